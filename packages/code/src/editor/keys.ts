export interface KeyBinding {
  /** The key as people write it: `Ctrl-R`. */
  readonly key: string;
  readonly does: string;
}

/** All keys of the prompt, in the order in which `/help` lists them. */
export const KEYS: readonly KeyBinding[] = [
  { key: "Enter", does: "send; while the agent works, steer it" },
  { key: "Up, Down", does: "earlier messages" },
  { key: "Shift-Tab", does: "change the permission mode" },
  { key: "Esc", does: "stop the agent, commands included; leave a question or a list" },
  { key: "Ctrl-C", does: "stop after this step; again: abort; empty the input; leave" },
  { key: "Ctrl-D", does: "leave, if the input is empty" },
];
