import { describe, expect, it } from "vitest";
import { type CorpusResult, readCorpus, runCorpusCase } from "./edits-corpus.ts";

const MIN_CASES = 150;
const MIN_PLACED = 0.95;
const AT_A_TIME = 16;

let ran: Promise<readonly CorpusResult[]> | undefined;
const results = (): Promise<readonly CorpusResult[]> => (ran ??= runAll());

describe("the corpus of edits and patches that models write", () => {
  it(
    "damages no file, takes none of several candidates, and places at least 95 % of what can be placed",
    { timeout: 600_000 },
    async () => {
      const all = await results();
      const placeable = all.filter(({ corpusCase }) => corpusCase.refused === undefined);
      const isPlaced = ({ verdict }: CorpusResult): boolean => verdict === "right";
      // oxlint-disable-next-line no-console
      console.log(shares(all));
      expect(all.length).toBeGreaterThanOrEqual(MIN_CASES);
      expect(shown(all.filter(({ verdict }) => verdict === "damaged"))).toEqual([]);
      expect(shown(all.filter(({ corpusCase, verdict }) => corpusCase.refused === "ambiguous" && verdict !== "refused"))).toEqual([]);
      const missed = shown(placeable.filter((result) => !isPlaced(result)));
      expect(placeable.filter(isPlaced).length / placeable.length, missed.join("\n")).toBeGreaterThanOrEqual(MIN_PLACED);
    },
  );

  it("gives the lines of all candidates in each refusal of an ambiguous edit", { timeout: 600_000 }, async () => {
    for (const { corpusCase, said } of await results())
      if (corpusCase.refused === "ambiguous") expect(said, `${corpusCase.kind}: ${corpusCase.name}`).toMatch(/lines \d+(?:, \d+)+/);
  });
});

async function runAll(): Promise<readonly CorpusResult[]> {
  const corpus = readCorpus();
  const found: CorpusResult[] = [];
  for (let at = 0; at < corpus.length; at += AT_A_TIME)
    found.push(...(await Promise.all(corpus.slice(at, at + AT_A_TIME).map(runCorpusCase))));
  return found;
}

function shown(found: readonly CorpusResult[]): readonly string[] {
  return found.map(({ corpusCase: { kind, name }, verdict, said }) => `${kind}: ${name}: ${verdict}: ${said}`);
}

function shares(results: readonly CorpusResult[]): string {
  const lines = [...Map.groupBy(results, ({ corpusCase }) => corpusCase.kind)].map(([kind, found]) => {
    const placeable = found.filter(({ corpusCase }) => corpusCase.refused === undefined);
    const placed = placeable.filter(({ verdict }) => verdict === "right").length;
    const refused = found.filter(({ corpusCase, verdict }) => corpusCase.refused !== undefined && verdict === "refused").length;
    return `${kind.padEnd(16)} ${placed} of ${placeable.length} placed, ${refused} of ${found.length - placeable.length} refused`;
  });
  return `${results.length} edits and patches\n${lines.join("\n")}`;
}
