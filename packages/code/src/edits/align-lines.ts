/** Lines that two texts have in common, in order: places in the one and in the other. */
export type LinePair = readonly [before: number, after: number];

// A table beyond this would take too long; then only equal lines at both ends are paired.
const MAX_CELLS = 4_000_000;

/** Returns the pairs of equal lines of a longest common subsequence. */
export function alignLines(before: readonly string[], after: readonly string[]): LinePair[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let tail = 0;
  while (tail < before.length - start && tail < after.length - start && before[before.length - 1 - tail] === after[after.length - 1 - tail])
    tail++;
  const pairs: LinePair[] = Array.from({ length: start }, (_, index) => [index, index]);
  const [rows, columns] = [before.length - start - tail, after.length - start - tail];
  if (rows > 0 && columns > 0 && rows * columns <= MAX_CELLS) {
    const width = columns + 1;
    const lengths = new Uint32Array((rows + 1) * width);
    for (let row = rows - 1; row >= 0; row--)
      for (let column = columns - 1; column >= 0; column--)
        lengths[row * width + column] =
          before[start + row] === after[start + column]
            ? (lengths[(row + 1) * width + column + 1] as number) + 1
            : Math.max(lengths[(row + 1) * width + column] as number, lengths[row * width + column + 1] as number);
    for (let [row, column] = [0, 0]; row < rows && column < columns;) {
      if (before[start + row] === after[start + column]) pairs.push([start + row++, start + column++]);
      else if ((lengths[(row + 1) * width + column] as number) >= (lengths[row * width + column + 1] as number)) row++;
      else column++;
    }
  }
  for (let index = tail; index > 0; index--) pairs.push([before.length - index, after.length - index]);
  return pairs;
}

/** Lines of one text that replace lines of the other. */
export interface ChangedLines {
  readonly before: readonly [from: number, to: number];
  readonly after: readonly [from: number, to: number];
}

/** Returns the lines between the pairs, in order. */
export function changedLines(pairs: readonly LinePair[], beforeLength: number, afterLength: number): ChangedLines[] {
  const changed: ChangedLines[] = [];
  let [before, after] = [0, 0];
  for (const [nextBefore, nextAfter] of [...pairs, [beforeLength, afterLength] as const]) {
    if (nextBefore > before || nextAfter > after) changed.push({ before: [before, nextBefore], after: [after, nextAfter] });
    [before, after] = [nextBefore + 1, nextAfter + 1];
  }
  return changed;
}
