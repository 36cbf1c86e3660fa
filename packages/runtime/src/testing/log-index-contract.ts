import type { EventLog, LogId, LogIndex, LogMatch } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wordsOf } from "../state/kit/searchable-text.ts";
import { textRelevance } from "../state/kit/text-relevance.ts";
import type { CreateEventLog } from "./event-log-contract/create-event-log.ts";
import { failureOf } from "./event-log-contract/failure-of.ts";
import { LOG, OTHER, record } from "./event-log-contract/sample-records.ts";

/** The tests that the `index` of an event log must pass, beside those of the log. */
export function describeLogIndex(name: string, create: CreateEventLog): void {
  const withIndex = async (test: (log: EventLog, index: LogIndex) => Promise<void>): Promise<void> => {
    await using log = await create(Date.now);
    if (log.index === undefined) throw new Error("The log has no index.");
    await test(log, log.index);
  };
  const found = async (index: LogIndex, query: string, log?: LogId) =>
    placesOf(await index.search(query, { limit: 10, ...(log !== undefined && { log }) }));

  describe(`${name} keeps the LogIndex contract`, () => {
    it("finds records by all the words that came with them, in any case and by how they begin", () =>
      withIndex(async (log, index) => {
        await log.append(LOG, 0, [record("a"), record("b"), record("c")], {
          texts: ["The build fails on Größe and naïve", "", "Building: the release"],
        });
        await log.append(OTHER, "any", [record("a")], { texts: ["a release"] });
        expect(await found(index, "BUILD the")).toEqual(["session/one 1", "session/one 3"]);
        expect(await found(index, "naive größ")).toEqual(["session/one 1"]);
        expect(await found(index, "release")).toEqual(["session/one 3", "session/two 1"]);
        expect(await found(index, "release", OTHER)).toEqual(["session/two 1"]);
        expect(await found(index, "release build")).toEqual(["session/one 3"]);
        // Two letters are a word of their own.
        expect(await found(index, "re")).toEqual([]);
        for (const query of ["", "  ", "nothing", '"', "a AND", "text:build", "*", "(the"])
          expect(await found(index, query), query).not.toContain("session/one 2");
        expect(await found(index, "release", "session/none" as LogId)).toEqual([]);
      }));

    it("finds what whoever reads the records would find", () =>
      withIndex(async (log, index) => {
        const parts = ["a", "B", "é", "e\u0301", "Ö", "ж", "1", "2", "-", "_", ".", "'", "/", "@", "%", ":", "\\", " ", " ", "\n"];
        const textFrom = (maxLength: number) => fc.array(fc.constantFrom(...parts), { maxLength }).map((all) => all.join(""));
        const samples = fc.sample(textFrom(20), { numRuns: 60, seed: 1 });
        const texts = [...samples, "abc:2A '1' 12e5 -1.5 a@b.ab http://ab.12/a_b", "ab".repeat(400), `${"é".repeat(5000)} b`];
        await log.append(
          LOG,
          0,
          texts.map((_, place) => record(`k${place}`)),
          { texts },
        );
        const queries = [...fc.sample(textFrom(6), { numRuns: 150, seed: 2 }), "12e5", "abc", "ababababa", "éééé b", "e".repeat(400)];
        for (const query of queries) {
          const words = wordsOf(query);
          const expected = texts.flatMap((text, place) => (textRelevance(text, words) > 0 ? [place + 1] : []));
          const matches = await index.search(query, { limit: 1000 });
          expect(
            matches.map(({ seq }) => seq).toSorted((a, b) => a - b),
            JSON.stringify(query),
          ).toEqual(expected);
        }
      }));

    it("gives the best first, so many, and the rest from an offset", () =>
      withIndex(async (log, index) => {
        const texts = ["word", "word among many other things that are said here", "word word", "other"];
        await log.append(
          LOG,
          0,
          texts.map((_, place) => record(`k${place}`)),
          { texts },
        );
        const all = await index.search("word", { limit: 10 });
        expect(all.map(({ score }) => score)).toEqual(all.map(({ score }) => score).toSorted((a, b) => b - a));
        for (const { score } of all) expect(score > 0 && score <= 1, String(score)).toBe(true);
        expect(all.at(-1)).toMatchObject({ log: LOG, seq: 2 });
        expect([...(await index.search("word", { limit: 2 })), ...(await index.search("word", { limit: 2, offset: 2 }))]).toEqual(all);
      }));

    it("is told of what came without words by whoever searches, once", () =>
      withIndex(async (log, index) => {
        await log.append(LOG, 0, [record("a"), record("b")]);
        await log.append(LOG, 2, [record("c")]);
        await log.append(LOG, 3, [record("d")], { texts: ["known"] });
        // As many as there are records, or they don't belong to them.
        await log.append(LOG, 4, [record("e"), record("f")], { texts: ["one"] });
        await log.append("session/one/inbox" as LogId, "any", [record("a")]);
        await log.append("elsewhere" as LogId, "any", [record("a")]);
        const records = await index.unindexed(10);
        expect(records.map(({ log: id, after, upTo }) => [id, after, upTo])).toEqual([
          [LOG, 4, 6],
          [LOG, 0, 3],
        ]);
        expect(await index.unindexed(1)).toHaveLength(1);
        for (const stretch of records)
          for (let times = 0; times < 2; times++) await index.add(stretch, [{ seq: stretch.upTo, text: `late ${stretch.upTo}` }]);
        expect(await index.unindexed(10)).toEqual([]);
        expect(await found(index, "late")).toEqual(["session/one 3", "session/one 6"]);
        expect(await found(index, "known")).toEqual(["session/one 4"]);
      }));

    it("forgets a log that is deleted, and takes nothing of it for one that is made anew under its name", () =>
      withIndex(async (log, index) => {
        await log.append(LOG, 0, [record("a")], { texts: ["here"] });
        await log.append(LOG, 1, [record("b")]);
        await log.append(OTHER, 0, [record("a")], { texts: ["here too"] });
        const [before] = await index.unindexed(10);
        await log.delete(LOG);
        expect(await found(index, "here")).toEqual(["session/two 1"]);
        expect(await index.unindexed(10)).toEqual([]);
        await log.append(LOG, 0, [record("x"), record("y")]);
        if (before !== undefined) await index.add(before, [{ seq: 2, text: "gone" }]);
        expect(await found(index, "gone")).toEqual([]);
        expect(await index.unindexed(10)).toMatchObject([{ log: LOG, after: 0, upTo: 2 }]);
      }));

    it("holds nothing of an append that was refused, and nothing twice of one that is repeated", () =>
      withIndex(async (log, index) => {
        const append = (seq: number) => log.append(LOG, seq, [record("a")], { texts: ["once"] });
        await append(0);
        await append(0);
        expect(await failureOf(log.append(LOG, 0, [record("b")], { texts: ["never"] }))).toMatchObject({ kind: "conflict" });
        expect(await found(index, "once")).toEqual(["session/one 1"]);
        expect(await found(index, "never")).toEqual([]);
        await log.append(LOG, "any", [record("a"), record("b")], { texts: ["another", "second"] });
        expect([await found(index, "another"), await found(index, "second")]).toEqual([[], ["session/one 2"]]);
        await log[Symbol.asyncDispose]();
        expect(await failureOf(index.search("once", { limit: 1 }))).toMatchObject({ kind: "closed" });
      }));
  });
}

function placesOf(matches: readonly LogMatch[]): readonly string[] {
  return matches.map(({ log, seq }) => `${log} ${seq}`).toSorted();
}
