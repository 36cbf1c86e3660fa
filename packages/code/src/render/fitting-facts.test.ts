import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { displayWidth } from "../text/display-width.ts";
import { fittingFacts } from "./fitting-facts.ts";

describe("fittingFacts", () => {
  it("leaves out the facts of the highest rank first and keeps the order of the others", () => {
    const facts = [
      { text: "model", rank: 1 },
      { text: "branch", rank: 3 },
      { text: "mode", rank: 0 },
    ];
    expect(fittingFacts(facts, { columns: 80 })).toEqual(["model", "branch", "mode"]);
    expect(fittingFacts(facts, { columns: 12 })).toEqual(["model", "mode"]);
    expect(fittingFacts(facts, { columns: 6 })).toEqual(["mode"]);
    expect(fittingFacts(facts, { columns: 3 })).toEqual([]);
  });

  it("uses a short form before it leaves out another fact", () => {
    const facts = [
      { text: "anthropic/claude", short: "claude", rank: 0 },
      { text: "default", rank: 1 },
    ];
    expect(fittingFacts(facts, { columns: 26 })).toEqual(["anthropic/claude", "default"]);
    expect(fittingFacts(facts, { columns: 25 })).toEqual(["claude", "default"]);
  });

  it("never takes more columns than there are, and never cuts a fact", () => {
    const fact = fc.record({ text: fc.stringMatching(/^[a-z会議]{1,20}$/), rank: fc.nat(5) });
    fc.assert(
      fc.property(fc.array(fact, { maxLength: 10 }), fc.nat(120), (facts, columns) => {
        const shown = fittingFacts(facts, { columns });
        expect(displayWidth(shown.join(" · "))).toBeLessThanOrEqual(columns);
        for (const text of shown) expect(facts.map((given) => given.text)).toContain(text);
      }),
    );
  });
});
