import { checkMembers, invalidOption, shown } from "../invalid-option.ts";

/** From when on a model is told of the tools of sources by their names alone, and finds their schemas with `search_tools`. */
export interface DeferToolsOptions {
  /** More of them than this. Default 40. */
  readonly aboveTools?: number | undefined;
  /** Or schemas and descriptions of more bytes than this. Default 64 KiB. */
  readonly aboveBytes?: number | undefined;
}

export const DEFAULT_DEFER: Required<{ readonly [O in keyof DeferToolsOptions]: number }> = { aboveTools: 40, aboveBytes: 64 * 1024 };

/** @throws AgentError of kind `invalid-option` */
export function checkDeferTools(option: DeferToolsOptions | false | undefined): void {
  if (option === undefined || option === false) return;
  checkMembers("deferTools", option, ["aboveTools", "aboveBytes"], "{ aboveTools: 40 }, or false");
  for (const [name, value] of Object.entries(option))
    if (value !== undefined && !(Number.isSafeInteger(value) && (value as number) >= 0))
      throw invalidOption(`deferTools.${name}`, `must be a whole number from 0, not ${shown(value)}`);
}
