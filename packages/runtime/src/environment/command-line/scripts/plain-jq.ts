const TOKEN =
  /\s+|#[^\r\n]*|(?<field>\.\s*(?:[A-Za-z_]\w*|(?="))|[A-Za-z_]\w*\s*:(?!:)|@[a-z0-9]+)|\$(?<variable>[A-Za-z_]\w*)|(?<name>[A-Za-z_]\w*)|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|(?<quote>")|\?\/\/=?|\/\/=|\|=|[-+*/%=!<>]=|\.\.|[-+*/%=<>|,.:;?(){}[\]]/y;
const NAMES: ReadonlySet<string> = new Set(
  (
    "and or not if then elif else end as reduce foreach try catch true false null def label break empty error length utf8bytelength keys keys_unsorted values has in map map_values " +
    "path paths del delpaths getpath setpath to_entries from_entries with_entries select recurse type add any all flatten range floor ceil round sqrt pow log tostring tonumber " +
    "ascii_downcase ascii_upcase ascii explode implode split join ltrimstr rtrimstr trim ltrim rtrim startswith endswith combinations contains inside index rindex indices first last nth until while " +
    "repeat limit skip min max min_by max_by unique unique_by group_by sort sort_by reverse test match capture scan splits sub gsub tojson fromjson todate fromdate now date strftime strptime " +
    "mktime gmtime localtime dateadd datesub isvalid objects iterables booleans numbers strings nulls arrays scalars leaf_paths walk transpose tostream fromstream truncate_stream " +
    "abs toarray pick infinite nan isinfinite isnan isnormal input inputs"
  ).split(" "),
);

/** True if a filter of `jq` only calculates with its input: it loads no modules, reads no variables of the environment, and calls nothing that is not listed. */
export function isPlainJq(filter: string): boolean {
  // The number of parentheses that are open in the code within each open string.
  const open: number[] = [];
  let depth = 0;
  for (let at = 0; at < filter.length;) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(filter);
    if (found === null) return false;
    at = TOKEN.lastIndex;
    const { variable, name, quote } = found.groups ?? {};
    if (variable === "ENV" || variable === "__prog_args") return false;
    if (name !== undefined && !NAMES.has(name)) return false;
    if (found[0] === "(") depth++;
    let goesOn = quote !== undefined;
    if (found[0] === ")") {
      if (open.length > 0 && depth === 0) {
        depth = open.pop() as number;
        goesOn = true;
      } else depth--;
    }
    if (!goesOn) continue;
    const end = endOfString(filter, at);
    if (end === undefined) return false;
    at = end.at;
    if (end.opensCode) {
      open.push(depth);
      depth = 0;
    }
  }
  return open.length === 0;
}

/** Returns the place behind a string, or behind the `\(` that begins code in it. */
function endOfString(filter: string, from: number): { readonly at: number; readonly opensCode: boolean } | undefined {
  for (let at = from; at < filter.length; at++) {
    if (filter[at] === '"') return { at: at + 1, opensCode: false };
    if (filter[at] === "\\") {
      if (filter[at + 1] === "(") return { at: at + 2, opensCode: true };
      at++;
    }
  }
  return undefined;
}
