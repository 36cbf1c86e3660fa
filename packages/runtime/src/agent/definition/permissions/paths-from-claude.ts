/** How the path rules of Claude Code are to be read. */
export interface PathReading {
  /** Absolute; absent: not known. */
  readonly home: string | undefined;
  /** Cover at least what the pattern covers, as a deny must; else at most that, as an allow must. */
  readonly widen: boolean;
}

/**
 * Patterns for paths that say what one of Claude Code's says. Those are gitignore's: `//` begins at the root of the disk, `~/` at home, `/`
 * and `./` in the working directory, a name alone is meant in any folder, and a folder means all that is in it. A star there ends at a slash, here it doesn't.
 * @returns patterns, or why there are none
 */
export function pathsFromClaude(pattern: string, { home, widen }: PathReading): readonly string[] | string {
  if (pattern.startsWith("!")) return "A pattern that takes another one back can't be said in rules.";
  if (pattern.includes("\\")) return "Signs behind a backslash can't be said in path rules.";
  if (pattern.split("/").includes(".."))
    return 'Paths have no ".." where rules are held against them: name the folder from the root, as in "//srv/shared/**".';
  const { roots, body } = rooted(pattern, home);
  if (roots.length === 0) return "Where home is was not said: give { home }.";
  const isName = roots[0] === "" && !pattern.startsWith("./") && !pattern.startsWith("/") && !body.slice(0, -1).includes("/");
  const plain = segmentsOf(body, widen);
  if (plain === undefined)
    return "A star here stands for slashes too, so a rule for it would allow more than this one: allow the folder, or each file.";
  if (!widen && roots[0] === "" && plain.startsWith("**"))
    return "A pattern that begins with ** covers files outside of the working directory too: allow the folder, or the tool.";
  const anchored = isName && widen && !plain.startsWith("**") ? `**/${plain}` : plain;
  const wanted = widen && !plain.endsWith("*") ? [anchored, `${anchored}/**`] : [anchored];
  return roots.flatMap((root) => wanted.map((path) => root + path));
}

function rooted(pattern: string, home: string | undefined): { readonly roots: readonly string[]; readonly body: string } {
  if (pattern.startsWith("//")) return { roots: ["/"], body: pattern.slice(2) };
  if (pattern === "~" || pattern.startsWith("~/"))
    return { roots: home === undefined ? [] : [`${home.replace(/\/+$/, "")}/`, "~/"], body: pattern.slice(2) };
  return { roots: [""], body: pattern.replace(/^\.?\//, "") };
}

/** Without empty segments and dots. @returns `undefined` where it holds what would cover more than it should */
function segmentsOf(body: string, widen: boolean): string | undefined {
  const segments = body.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.length === 0) return "**";
  const isFolder = body.endsWith("/");
  const said = segments.map((segment, index) => {
    const plain = segment.replaceAll(/\?|\[[^\]]*\]/g, "*");
    const isWhole = plain === "**" || (plain === "*" && index === segments.length - 1);
    return plain === segment && (isWhole || !plain.includes("*")) ? plain : widen ? plain : undefined;
  });
  if (said.includes(undefined)) return undefined;
  const path = said.join("/") + (isFolder && said.at(-1)?.endsWith("*") !== true ? "/**" : "");
  // A star alone would be no pattern for paths, but any arguments.
  return path === "*" ? "**" : path;
}
