import type { EffortLevel, JsonValue } from "@keelson/protocol";
import { parseJsonc } from "keelson/tools";
import { EFFORT_LEVELS } from "../core/effort-levels.ts";
import { readHooks } from "./read-hooks.ts";
import { readPermissions } from "./read-rules.ts";
import { readNotifications, readScreenReader, readTheme } from "./read-terminal-settings.ts";
import { readVariables } from "./read-variables.ts";
import { type SettingsEntry, unused } from "./settings-entry.ts";
import { UNSUPPORTED_SETTINGS } from "./unsupported-settings.ts";

type Reader = (value: JsonValue) => readonly SettingsEntry[];

/** Every setting that is used. */
const READERS: { readonly [name: string]: Reader } = {
  $schema: () => [],
  permissions: readPermissions,
  hooks: readHooks,
  disableAllHooks: (value) => [
    value === true
      ? { entry: "disableAllHooks true", kind: "opens", reason: "the hooks of this file are not used" }
      : unused(`disableAllHooks ${JSON.stringify(value)}`, "it switches nothing off"),
  ],
  env: readVariables,
  model: (value) => [readModel("model", value)],
  fallbackModel: (value) => [readModel("fallbackModel", value)],
  effort: (value) => [readEffort("effort", value)],
  effortLevel: (value) => [readEffort("effortLevel", value)],
  theme: (value) => [readTheme(value)],
  notifications: (value) => [readNotifications(value)],
  screenReader: (value) => [readScreenReader(value)],
};

/**
 * Reads a file of settings, in our spelling or that of Claude Code. Each thing that it says becomes an entry; a setting that is not known is an
 * entry, too, so that nothing is passed over without a word.
 */
export function readSettings(text: string): readonly SettingsEntry[] {
  let parsed: JsonValue;
  try {
    parsed = parseJsonc(text);
  } catch (error) {
    return [unused("the file", `it is no JSON: ${error instanceof Error ? error.message : String(error)}`, true)];
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))
    return [unused("the file", "it must hold an object of settings", true)];
  const settings = parsed as { readonly [name: string]: JsonValue };
  const entries = Object.entries(settings).flatMap(([name, value]): readonly SettingsEntry[] => {
    const read = Object.hasOwn(READERS, name) ? READERS[name] : undefined;
    if (read !== undefined) return read(value);
    const { reason, isGuard = false } = Object.hasOwn(UNSUPPORTED_SETTINGS, name)
      ? (UNSUPPORTED_SETTINGS[name] as (typeof UNSUPPORTED_SETTINGS)[string])
      : { reason: "it is not known here, and was passed over" };
    return [unused(name, reason, isGuard)];
  });
  if (settings["disableAllHooks"] !== true) return entries;
  return entries.map((entry) => (entry.values?.hooks === undefined ? entry : unused(entry.entry, "disableAllHooks of this file is true")));
}

const NICKNAME = /^(?:default|best|opus|sonnet|haiku|opusplan)(?:\[\w+\])?$/;

function readModel(name: "model" | "fallbackModel", value: JsonValue): SettingsEntry {
  const entry = `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`;
  if (typeof value !== "string" || value.trim() === "")
    return unused(entry, "it must be the name of a model, as in anthropic/claude-sonnet-5");
  if (NICKNAME.test(value)) return unused(entry, "it is a nickname that changes its meaning: name the model, as in claude-sonnet-5");
  const model = /^claude-[\w.-]+$/.test(value) ? `anthropic/${value}` : value;
  if (!/^[\w.-]+\/\S+$/.test(model)) return unused(entry, "a model is named with its provider, as in anthropic/claude-sonnet-5");
  return {
    entry,
    kind: "opens",
    reason: `${name === "model" ? "the model" : "the second model"} of new sessions, if no option names one`,
    values: { [name]: model },
  };
}

function readEffort(name: string, value: JsonValue): SettingsEntry {
  const entry = `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`;
  const effort = EFFORT_LEVELS.find((level): level is EffortLevel => level === (value === "xhigh" ? "max" : value));
  if (effort === undefined) return unused(entry, `it must be one of ${EFFORT_LEVELS.join(", ")}`);
  return { entry, kind: "opens", reason: `effort ${effort}, if no option names one`, values: { effort } };
}
