import { type SettingsEntry, unused } from "./settings-entry.ts";
import type { SettingsValues } from "./settings-values.ts";
import { THEME_NAMES, type ThemeName } from "./theme-names.ts";

/** Names of Claude Code for themes, with the nearest one here. */
const CLAUDE_THEMES: { readonly [name: string]: ThemeName } = {
  "dark-daltonized": "dark",
  "light-daltonized": "light",
  "dark-ansi": "ansi",
  "light-ansi": "ansi",
};

/** Reads `theme`, in our spelling or that of Claude Code. */
export function readTheme(value: unknown): SettingsEntry {
  const entry = `theme ${typeof value === "string" ? value : JSON.stringify(value)}`;
  const theme =
    THEME_NAMES.find((name) => name === value) ??
    (typeof value === "string" && Object.hasOwn(CLAUDE_THEMES, value) ? CLAUDE_THEMES[value] : undefined);
  if (theme === undefined) return unused(entry, `it must be one of ${THEME_NAMES.join(", ")}`);
  return person(entry, `the theme ${theme} of the terminal`, { theme });
}

/** Reads `notifications`: whether the terminal notifies a person when the agent waits or is done. */
export function readNotifications(value: unknown): SettingsEntry {
  const entry = `notifications ${JSON.stringify(value)}`;
  if (value === "on") return person(entry, "the terminal notifies when the agent waits or is done", { notifications: "on" });
  if (value === "off") return person(entry, "the terminal never notifies", { notifications: "off" });
  return unused(entry, 'it must be "on" or "off"');
}

/** Reads `screenReader`: output for a screen reader, as with --screen-reader. */
export function readScreenReader(value: unknown): SettingsEntry {
  const entry = `screenReader ${JSON.stringify(value)}`;
  if (typeof value !== "boolean") return unused(entry, "it must be true or false");
  return person(entry, value ? "output is for a screen reader, as with --screen-reader" : "output is for a screen", {
    screenReader: value,
  });
}

function person(entry: string, reason: string, values: Partial<SettingsValues>): SettingsEntry {
  return { entry, kind: "person", reason, values };
}
