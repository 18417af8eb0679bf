//! `picture TITLE`: reads what a terminal shows from standard input and writes it as SVG to standard output.
//!
//! Pictures are made from what the program really prints, because one that is drawn by hand is wrong from
//! the next change on. `scripts/pictures` runs the commands and calls this.

use std::io;

use anstyle::RgbColor;
use anstyle_svg::{Palette, Term};

const BACKGROUND: RgbColor = RgbColor(0x1c, 0x21, 0x28);
const TEXT: RgbColor = RgbColor(0xd5, 0xdb, 0xe3);
/// Black to white, as terminals number them. Each is readable on the background.
const COLOURS: [RgbColor; 8] = [
    RgbColor(0x8b, 0x94, 0x9e),
    RgbColor(0xff, 0x7b, 0x72),
    RgbColor(0x7e, 0xe7, 0x87),
    RgbColor(0xe3, 0xb3, 0x41),
    RgbColor(0x79, 0xc0, 0xff),
    RgbColor(0xd2, 0xa8, 0xff),
    RgbColor(0x76, 0xe3, 0xea),
    RgbColor(0xf0, 0xf6, 0xfc),
];

fn main() -> io::Result<()> {
    let title = std::env::args().nth(1).ok_or_else(|| io::Error::other("usage: picture TITLE"))?;
    let shown = io::read_to_string(io::stdin())?;
    print!("{}", draw(&title, &shown));
    Ok(())
}

fn draw(title: &str, shown: &str) -> String {
    // Bright colours look like the others.
    let palette: [RgbColor; 16] = std::array::from_fn(|number| COLOURS[number % COLOURS.len()]);
    let term = Term::new()
        .palette(Palette::from(palette))
        .fg_color(TEXT.into())
        .bg_color(BACKGROUND.into())
        .min_width_px(820);
    // Browsers ignore the opacity of a part of a text, so dim text gets a colour.
    let svg = term.render_svg(shown).replace(".dimmed { opacity: 0.4; }", ".dimmed { fill: #8B949E; }");
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    // The title is what people hear who cannot see the picture.
    svg.replacen('>', &format!(" role=\"img\">\n  <title>{title}</title>"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_a_title_and_the_colours_of_the_terminal() {
        let svg = draw("a < b", "\x1b[1;31mdeny\x1b[0m <x> \x1b[2mdim\x1b[0m\n");
        assert!(svg.starts_with("<svg ") && svg.contains("<title>a &lt; b</title>"), "{svg}");
        assert!(
            svg.contains("#FF7B72") && svg.contains(">deny</tspan>") && svg.contains("&lt;x&gt;"),
            "{svg}"
        );
        assert!(svg.contains(".dimmed { fill: #8B949E; }") && !svg.contains("opacity"), "{svg}");
    }
}
