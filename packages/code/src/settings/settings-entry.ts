import type { SettingsValues } from "./settings-values.ts";

/** One thing that a file of settings says. */
export interface SettingsEntry {
  /** The place in the file, with what is there if that is no secret. */
  readonly entry: string;
  /** `confines`: always used. `opens`: used if the file is the person's own or trusted. `person`: used if it is their own. `unused`: never used. */
  readonly kind: "confines" | "opens" | "person" | "unused";
  /** The use, or the reason why there is none, with the remedy. */
  readonly reason: string;
  /** True for an unused entry that was meant to confine. */
  readonly isGuard?: true;
  readonly values?: Partial<SettingsValues>;
}

export function unused(entry: string, reason: string, isGuard = false): SettingsEntry {
  return { entry, kind: "unused", reason, ...(isGuard && { isGuard }) };
}
