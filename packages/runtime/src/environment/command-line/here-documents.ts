import type { SyntaxNode } from "./parse-bash.ts";

const DELIMITER = /^(?:(\w+)|'(\w+)'|"(\w+)"|\\(\w+))$/;

/**
 * Whether a here-document surely ends where the tree says, and holds no expansion that the tree doesn't know. What bash takes for text
 * and the tree for commands, or the other way round, would be the best of hiding places.
 */
export function isHereDocumentSure(source: string, node: SyntaxNode): boolean {
  const part = (type: string): SyntaxNode | undefined => node.children.find((child) => child.type === type);
  const start = part("heredoc_start");
  const end = part("heredoc_end");
  if (start === undefined || end === undefined) return false;
  const named = DELIMITER.exec(source.slice(start.start, start.end));
  if (named === null) return false;
  const delimiter = named[1] ?? named[2] ?? named[3] ?? (named[4] as string);
  const lineEnd = source.indexOf("\n", start.end);
  if (lineEnd < 0) return false;
  const rest = source.slice(start.end, lineEnd);
  // A quote, a continuation or a second document on the line would move the place where the text begins.
  if (rest.includes("<<") || rest.endsWith("\\") || countOf(rest, "'") % 2 === 1 || countOf(rest, '"') % 2 === 1) return false;
  const stripsTabs = node.children.some(({ type }) => type === "<<-");
  for (let at = lineEnd + 1; at <= source.length;) {
    const next = source.indexOf("\n", at);
    const line = source.slice(at, next < 0 ? source.length : next);
    if ((stripsTabs ? line.replace(/^\t+/, "") : line) === delimiter) {
      const endsHere = end.end === at + line.length;
      return endsHere && (named[1] === undefined || knowsExpansions(source.slice(lineEnd + 1, at), lineEnd + 1, part("heredoc_body")));
    }
    if (next < 0) return false;
    at = next + 1;
  }
  return false;
}

const EXPANSION = /\\[^]|`|\$[\w({@*#?$!-]/g;

/** Each expansion in the text must be one that the tree has too. */
function knowsExpansions(text: string, offset: number, body: SyntaxNode | undefined): boolean {
  const known = (body?.children ?? []).filter(({ type }) => type !== "heredoc_content");
  let next = 0;
  let inside = 0;
  for (const match of text.matchAll(EXPANSION)) {
    const at = offset + match.index;
    if (at < inside || match[0].startsWith("\\")) continue;
    while (next < known.length && (known[next] as SyntaxNode).start < at) next++;
    const found = known[next];
    if (found?.start !== at) return false;
    inside = found.end;
  }
  return true;
}

function countOf(text: string, character: string): number {
  return text.split(character).length - 1;
}
