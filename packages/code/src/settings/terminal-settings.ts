import { loadSettings, type LoadSettingsOptions } from "./load-settings.ts";
import type { ThemeName } from "./theme-names.ts";

/** The choices of a person for their terminal. */
export interface TerminalSettings {
  /** Default: the 16 colours of the terminal. */
  readonly theme: ThemeName | undefined;
  readonly notifications: "on" | "off";
  /** True if the output is for a screen reader: lines one after another, without a cursor that moves. */
  readonly screenReader: boolean;
}

/**
 * Returns the choices for the terminal. The option goes before the settings, and a terminal that cannot move its cursor is written to as for a screen
 * reader.
 */
export async function terminalSettings(
  options: LoadSettingsOptions,
  { screenReader = false }: { readonly screenReader?: boolean | undefined } = {},
): Promise<TerminalSettings> {
  const { values } = await loadSettings(options);
  return {
    theme: values.theme,
    notifications: values.notifications ?? "on",
    screenReader: screenReader || values.screenReader === true || options.environment["TERM"] === "dumb",
  };
}
