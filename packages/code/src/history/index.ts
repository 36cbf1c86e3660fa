export { createFileHistory, type ToolHistory } from "./create-file-history.ts";
export { forgetHistories, historiesOf } from "./histories-of.ts";
export { recordChanges } from "./record-changes.ts";
export { rewoundText } from "./rewound-text.ts";
export type { UndoResult } from "./project-history.ts";
