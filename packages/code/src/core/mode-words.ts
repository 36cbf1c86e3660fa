import type { PermissionMode } from "@keelson/protocol";

/** The calls that run unasked in each permission mode, in words for a person. */
export const MODE_WORDS: { readonly [M in PermissionMode]: string } = {
  "default": "reads run; changes and commands ask",
  "accept-edits": "edits of files in the project run, too",
  "plan-only": "only reads run: the agent explores and plans",
  "bypass-all": "everything runs unasked that no rule denies",
  "deny-unauthorized": "a call that no rule allows is refused without a question",
};

/** The modes that Shift-Tab goes through. */
const CYCLE: readonly PermissionMode[] = ["default", "accept-edits", "plan-only"];

/** Returns the mode after this one; from a mode that Shift-Tab does not reach, the default. */
export function nextMode(mode: PermissionMode): PermissionMode {
  return CYCLE[(CYCLE.indexOf(mode) + 1) % CYCLE.length] ?? "default";
}
