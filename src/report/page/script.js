// Sorts, filters and toggles. The page is complete without it.
(() => {
  'use strict';
  const find = (selector, node = document) => node.querySelector(selector);
  const all = (selector, node = document) => [...node.querySelectorAll(selector)];
  const root = document.documentElement;

  // The theme: that of the system until the reader chooses. A page from a file may not be allowed to store the choice.
  const store = {
    get() { try { return localStorage.getItem('provost-theme'); } catch { return null; } },
    set(value) { try { localStorage.setItem('provost-theme', value); } catch { /* It holds for this visit. */ } },
  };
  const system = matchMedia('(prefers-color-scheme: dark)');
  const theme = find('#theme');
  const isDark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : system.matches);
  const showTheme = () => theme.setAttribute('aria-pressed', String(isDark()));
  if (['light', 'dark'].includes(store.get())) root.dataset.theme = store.get();
  theme.hidden = false;
  theme.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    store.set(root.dataset.theme);
    showTheme();
  });
  system.addEventListener('change', showTheme);
  showTheme();

  // A chart is one stop of the Tab key; the arrow keys move between its marks. Escape hides the details.
  for (const group of all('.marks')) {
    const marks = all('.mark', group);
    marks.forEach((mark, at) => { mark.tabIndex = at ? -1 : 0; });
    group.addEventListener('keydown', (event) => {
      const at = marks.indexOf(document.activeElement);
      const to = {
        ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: marks.length - 1,
      }[event.key];
      if (at < 0 || !marks[to]) return;
      event.preventDefault();
      marks[at].tabIndex = -1;
      marks[to].tabIndex = 0;
      marks[to].focus();
    });
  }
  addEventListener('keydown', (event) => root.classList.toggle('quiet', event.key === 'Escape'));
  addEventListener('pointermove', () => root.classList.remove('quiet'));

  // Tables: a click on a heading sorts by it, a second click turns the order around.
  const key = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.v ?? find('time', cell)?.dateTime ?? cell.textContent.trim();
  };
  const compare = (a, b) => {
    const numbers = a !== '' && b !== '' ? a - b : NaN;
    return Number.isNaN(numbers) ? a.localeCompare(b, 'en', { numeric: true }) : numbers;
  };
  const sort = (table, heading) => {
    const falls = heading.getAttribute('aria-sort');
    const first = heading.classList.contains('n') ? 'descending' : 'ascending';
    const order = falls === 'none' ? first : falls === 'ascending' ? 'descending' : 'ascending';
    for (const other of all('thead th', table)) other.setAttribute('aria-sort', 'none');
    heading.setAttribute('aria-sort', order);
    const sign = order === 'ascending' ? 1 : -1;
    const rows = [...table.tBodies[0].rows].map((row) => [key(row, heading.cellIndex), row]);
    rows.sort(([a], [b]) => sign * compare(a, b));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  };
  for (const table of all('table.sortable')) {
    for (const heading of all('thead th', table)) {
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener('click', () => sort(table, heading));
    }
  }

  // Copy buttons, for texts that are opened.
  const copy = async (text, button) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement('textarea');
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
    }
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  };
  const addCopyButtons = (node) => {
    for (const code of all('code[data-copy]', node)) {
      if (code.nextElementSibling) continue;
      const button = document.createElement('button');
      Object.assign(button, { type: 'button', className: 'copy', textContent: 'Copy' });
      button.addEventListener('click', () => copy(code.textContent, button));
      code.after(button);
    }
  };
  addCopyButtons(find('#about'));

  const list = find('table.list');
  if (!list) return;
  const form = find('#filters');
  const rows = [...list.tBodies[0].rows];
  const texts = new Map();
  const day = find('#day');
  let days = null;
  const textOf = (row) => {
    if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
    return texts.get(row);
  };
  const isShown = (row) => {
    const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const selects = all('select', form).every(({ name, value }) =>
      value === '' || row.dataset[name] === value || (name === 'g' && row.dataset.g.split(' ').includes(value)));
    const date = find('time', row).dateTime.slice(0, 10);
    const isDay = !days || (date >= days.from && date <= days.to);
    return selects && isDay && words.every((word) => textOf(row).includes(word));
  };
  const filter = () => {
    let count = 0;
    for (const row of rows) {
      row.hidden = !isShown(row);
      if (!row.hidden) count += 1;
    }
    day.hidden = !days;
    if (days) day.textContent = `✕ ${days.name}`;
    find('#found').textContent = count === rows.length ? `${count} decisions` : `${count} of ${rows.length} decisions`;
  };
  form.hidden = false;
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('input', filter);
  find('#clear').addEventListener('click', () => { form.reset(); days = null; filter(); });
  day.addEventListener('click', () => { days = null; filter(); find('#clear').focus(); });
  filter();

  // A mark of a chart shows its decisions.
  for (const mark of all('a.mark')) {
    mark.addEventListener('click', () => {
      const { g, o, from, to } = mark.dataset;
      for (const { name } of [...form.elements]) if (name) form.elements[name].value = { g, o }[name] ?? '';
      days = from ? { from, to, name: find('.tip b', mark).textContent } : null;
      filter();
    });
  }

  // A click on any part of a row opens it. A link to a decision opens it too.
  list.addEventListener('click', (event) => {
    if (event.target.closest('details, a, button, thead') || String(getSelection())) return;
    const details = find('details', event.target.closest('tr'));
    details.open = !details.open;
  });
  list.addEventListener('toggle', (event) => { if (event.target.open) addCopyButtons(event.target); }, true);
  const openTarget = () => {
    const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (rows.includes(row)) find('details', row).open = true;
  };
  addEventListener('hashchange', openTarget);
  openTarget();

  const open = find('#open');
  open.addEventListener('click', () => {
    const isOpen = open.getAttribute('aria-pressed') !== 'true';
    open.setAttribute('aria-pressed', String(isOpen));
    for (const row of rows) if (!row.hidden || !isOpen) find('details', row).open = isOpen;
  });

  // Browsers without `::details-content` print closed elements closed.
  let closed = [];
  addEventListener('beforeprint', () => {
    closed = all('details:not([open])');
    closed.forEach((details) => { details.open = true; });
  });
  addEventListener('afterprint', () => closed.forEach((details) => { details.open = false; }));
})();
