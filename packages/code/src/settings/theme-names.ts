/** The names of themes. `auto`: light or dark as the background of the terminal is. `ansi`: the 16 colours of the terminal. `none`: without colours. */
export const THEME_NAMES = ["auto", "dark", "light", "ansi", "none"] as const;

export type ThemeName = (typeof THEME_NAMES)[number];
