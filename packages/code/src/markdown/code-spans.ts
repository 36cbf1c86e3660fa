import { type Look, PLAIN, type Role, type Span } from "./span.ts";

/** Roles of the scopes that the library names; a scope without one looks like the text around it. */
const ROLES: { readonly [scope: string]: Role } = {
  "addition": "added",
  "attr": "attribute",
  "attribute": "attribute",
  "built_in": "type",
  "bullet": "keyword",
  "char": "string",
  "class": "type",
  "code": "string",
  "comment": "comment",
  "deletion": "removed",
  "doctag": "comment",
  "formula": "string",
  "keyword": "keyword",
  "link": "string",
  "literal": "number",
  "meta": "meta",
  "name": "keyword",
  "number": "number",
  "property": "attribute",
  "quote": "comment",
  "regexp": "string",
  "section": "heading",
  "selector-attr": "attribute",
  "selector-class": "type",
  "selector-id": "function",
  "selector-pseudo": "keyword",
  "selector-tag": "keyword",
  "string": "string",
  "symbol": "number",
  "template-tag": "meta",
  "template-variable": "variable",
  "title": "function",
  "type": "type",
  "variable": "variable",
};

const LOOKS: ReadonlyMap<string, Look> = new Map(Object.entries(ROLES).map(([scope, role]) => [scope, { role }]));
const ENTITIES: { readonly [entity: string]: string } = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'" };
const TOKEN = /<span class="([^"]*)">|<\/span>|&(?:amp|lt|gt|quot|#x27);|[^<&]+|[<&]/g;

/** Spans of the HTML that the library returns; newlines stay in their texts. */
export function codeSpans(html: string): Span[] {
  const spans: Span[] = [];
  const open: Look[] = [];
  for (const [token, classes] of html.matchAll(TOKEN)) {
    if (classes !== undefined) open.push(lookOf(classes, open.at(-1) ?? PLAIN));
    else if (token === "</span>") open.pop();
    else spans.push({ text: ENTITIES[token] ?? token, look: open.at(-1) ?? PLAIN });
  }
  return spans;
}

function lookOf(classes: string, around: Look): Look {
  const scope = /^hljs-(\S+)/.exec(classes)?.[1];
  // Code within a string, and code of another language, look like code.
  if (scope === "subst" || scope === undefined) return PLAIN;
  return LOOKS.get(scope) ?? around;
}
