import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { balancesOf } from "../src/balances.js";
import { report } from "../src/cli.js";
import { settle } from "../src/settle.js";
import { parseTab } from "../src/tab.js";

const trip = await readFile(new URL("../trip.tab", import.meta.url), "utf8");
const sum = (values) => [...values].reduce((total, value) => total + value, 0);

describe("settle", () => {
  it("pays the largest credit first", () => {
    const payments = settle(new Map([["ada", 500], ["ben", -200], ["cleo", 100], ["dan", -400]]));
    assert.deepEqual(payments, [
      { from: "dan", to: "ada", cents: 400 },
      { from: "ben", to: "ada", cents: 100 },
      { from: "ben", to: "cleo", cents: 100 },
    ]);
  });

  it("has nothing to do when nobody owes anything", () => {
    assert.deepEqual(settle(new Map([["ada", 0], ["ben", 0]])), []);
  });
});

describe("a whole tab", () => {
  it("has balances that add up to zero", () => {
    const tab = "ada paid 10 for ada, ben, cleo\nben paid 0.50 for ada, ben, cleo\ncleo paid 100.00 for everyone";
    assert.equal(sum(balancesOf(parseTab(tab)).values()), 0);
  });

  it("is settled to the cent", () => {
    assert.equal(report(trip), [
      "ada      +31.87",
      "ben      -49.16",
      "cleo     +41.88",
      "dan      -24.59",
      "",
      "ben pays cleo 41.88",
      "dan pays ada 24.59",
      "ben pays ada 7.28",
    ].join("\n"));
  });
});
