//! Whether the plugin's texts and the program say the same.
