/** All that the main agent of a story can call, its child agents included. */
export const TOOL_NAMES = [
  "read",
  "mark",
  "write",
  "send",
  "throws",
  "hangs",
  "stubborn",
  "slow",
  "huge",
  "chatty",
  "strict",
  "note",
  "listen",
  "helper",
  "aside",
] as const;
export type ToolName = (typeof TOOL_NAMES)[number];
