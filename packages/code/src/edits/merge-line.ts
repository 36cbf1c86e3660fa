import { type Fold, foldText } from "./fold-text.ts";

/**
 * Makes the change from `old` to `target` in a line that counts as equal to `old`. What the two have in common at both ends stays as it is in the line.
 * @param adapt applied to the text that is put in
 */
export function changeLine(line: string, old: string, target: string, fold: Fold, adapt: (text: string) => string): string {
  if (line === old) return adapt(target);
  const [folded, there] = [foldText(old, fold), foldText(line, fold)];
  if (folded.text !== there.text) return adapt(target);
  const { prefix, suffix } = commonEnds(old, target);
  const { length } = folded.text;
  let first = 0;
  for (let place = 1; place <= length && folded.endOf(place) <= prefix; place++)
    if (folded.endOf(place) !== -1 && there.endOf(place) !== -1) first = place;
  let last = length;
  let targetEnd = target.length;
  for (let place = length; place >= first; place--) {
    const start = place === length ? folded.endOf(length) : folded.startOf(place);
    if (start === -1 || (place < length && there.startOf(place) === -1)) continue;
    if (start < old.length - suffix) break;
    last = place;
    targetEnd = target.length - (old.length - start);
  }
  const lineEnd = last === length ? there.endOf(length) : there.startOf(last);
  return line.slice(0, there.endOf(first)) + adapt(target.slice(folded.endOf(first), targetEnd)) + line.slice(lineEnd);
}

/**
 * Makes the change from `old` to `target` in another version of `old`.
 * `undefined` if both versions change the same part of it, or parts that touch.
 */
export function mergeLine(line: string, old: string, target: string): string | undefined {
  if (line.trim().replace(/\s+/g, "") === old.trim().replace(/\s+/g, "")) return target;
  const [theirs, ours] = [commonEnds(old, line), commonEnds(old, target)];
  if (ours.prefix > old.length - theirs.suffix) {
    const from = ours.prefix - old.length + line.length;
    return line.slice(0, from) + target.slice(ours.prefix, target.length - ours.suffix) + line.slice(line.length - ours.suffix);
  }
  if (theirs.prefix > old.length - ours.suffix) {
    const to = old.length - ours.suffix;
    return line.slice(0, ours.prefix) + target.slice(ours.prefix, target.length - ours.suffix) + line.slice(to);
  }
  return undefined;
}

function commonEnds(one: string, other: string): { readonly prefix: number; readonly suffix: number } {
  const least = Math.min(one.length, other.length);
  let prefix = 0;
  while (prefix < least && one[prefix] === other[prefix]) prefix++;
  let suffix = 0;
  while (suffix < least - prefix && one[one.length - 1 - suffix] === other[other.length - 1 - suffix]) suffix++;
  return { prefix, suffix };
}
