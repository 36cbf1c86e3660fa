const MOST_PATHS = 20;

/** Returns a text for the agent: the person undid or redid changes of files. */
export function rewoundText(paths: readonly string[], action: "undo" | "redo"): string {
  const shown = paths.filter((path) => !/(^|\/)\.git\//.test(path)).toSorted();
  const more = shown.length > MOST_PATHS ? ` and ${shown.length - MOST_PATHS} more` : "";
  const repository = shown.length < paths.length ? ["the state of the git repository"] : [];
  const names = [...shown.slice(0, MOST_PATHS), ...repository].join(", ");
  return `[I ${action === "undo" ? "undid your changes of" : "brought back your changes of"} ${names}${more}. Read files again before you change them.]`;
}
