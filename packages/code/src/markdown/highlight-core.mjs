// Not TypeScript, because the types of the library bring those of a browser into the program: highlight-core.d.mts describes the part that is used.
export { default as highlightCore } from "highlight.js/lib/core";
