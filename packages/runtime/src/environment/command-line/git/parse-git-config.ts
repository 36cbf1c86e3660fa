/** One setting of a configuration file of git, under its full name: `core.pager`, `remote.origin.url`. */
export interface GitSetting {
  /** Section and variable are in lower case; a subsection is as it is written. */
  readonly name: string;
  /** `undefined` if the variable has no value, which means true. */
  readonly value: string | undefined;
}

const BLANK = /[ \t]*(?:[#;][^\n]*)?(?:\n|$)/y;
const HEADER = /[ \t]*\[[ \t]*([A-Za-z][A-Za-z0-9.-]*)(?:[ \t]+"((?:[^"\\\n]|\\["\\])*)")?[ \t]*\][ \t]*(?:[#;][^\n]*)?(?:\n|$)/y;
const VARIABLE = /[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:(=)[ \t]*|(?:\n|$))/y;
/** Control characters are blanks to git, but not all of them in all versions. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\x0b-\x1f]/;
const ESCAPED: { readonly [letter: string]: string } = { "n": "\n", "t": "\t", "b": "\b", "\\": "\\", '"': '"' };

/**
 * Returns the settings in the text of a configuration file of git. `undefined` if a part is not understood: git reads more spellings, such as a
 * setting behind its header.
 */
export function parseGitConfig(file: string): readonly GitSetting[] | undefined {
  const text = file.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  if (CONTROL.test(text)) return undefined;
  const settings: GitSetting[] = [];
  let section: string | undefined;
  for (let at = 0; at < text.length;) {
    const blank = matchAt(BLANK, text, at);
    if (blank !== undefined && blank[0] !== "") {
      at += blank[0].length;
      continue;
    }
    const header = matchAt(HEADER, text, at);
    if (header !== undefined) {
      const [whole, name = "", subsection] = header;
      section = subsection === undefined ? name.toLowerCase() : `${name.toLowerCase()}.${subsection.replace(/\\(.)/g, "$1")}`;
      at += whole.length;
      continue;
    }
    const variable = matchAt(VARIABLE, text, at);
    if (variable === undefined || section === undefined) return undefined;
    const [whole, name = "", equals] = variable;
    at += whole.length;
    const value = equals === undefined ? undefined : valueAt(text, at);
    if (value !== undefined) at = value.end;
    else if (equals !== undefined) return undefined;
    settings.push({ name: `${section}.${name.toLowerCase()}`, value: value?.value });
  }
  return settings;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

/** Reads a value up to the end of its line, which a backslash continues outside of comments. `undefined` if git would refuse it. */
function valueAt(text: string, from: number): { readonly value: string; readonly end: number } | undefined {
  let value = "";
  let isQuoted = false;
  let isComment = false;
  let at = from;
  for (; at < text.length && text[at] !== "\n"; at++) {
    const character = text[at] as string;
    if (isComment) continue;
    if (character === "\\") {
      const next = text[++at];
      if (next === "\n") continue;
      if (next === undefined || !Object.hasOwn(ESCAPED, next)) return undefined;
      value += ESCAPED[next] as string;
    } else if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (character === "#" || character === ";")) isComment = true;
    else value += character;
  }
  return isQuoted ? undefined : { value: value.trimEnd(), end: at + 1 };
}
