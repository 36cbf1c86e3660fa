import type { EffortLevel, JsonObject, PermissionMode, PermissionRule } from "@keelson/protocol";
import type { ThemeName } from "./theme-names.ts";

/** Settings as the agent uses them. */
export interface SettingsValues {
  readonly rules: readonly PermissionRule[];
  readonly mode?: PermissionMode;
  /** Named with its provider: `anthropic/claude-sonnet-5`. */
  readonly model?: string;
  readonly fallbackModel?: string;
  readonly effort?: EffortLevel;
  /** Variables for commands and hooks. */
  readonly variables: { readonly [name: string]: string };
  /** Folders beside the project, as they are written. */
  readonly folders: readonly string[];
  readonly theme?: ThemeName;
  /** Notifications of the terminal. Absent: on. */
  readonly notifications?: "on" | "off";
  /** True if the output is for a screen reader. */
  readonly screenReader?: boolean;
  /** The value of `hooks`. */
  readonly hooks?: JsonObject;
}

export const NO_VALUES: SettingsValues = { rules: [], variables: {}, folders: [] };

/** Joins values: rules, variables and folders add up, of others the later one is used. Hooks stay with their file and are not joined. */
export function joinValues(first: SettingsValues, second: Partial<SettingsValues>): SettingsValues {
  return {
    ...first,
    ...second,
    rules: [...first.rules, ...(second.rules ?? [])],
    variables: { ...first.variables, ...second.variables },
    folders: [...first.folders, ...(second.folders ?? [])],
  };
}
