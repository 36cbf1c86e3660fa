import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { splitEvenly } from "../src/split.js";

describe("splitEvenly", () => {
  it("gives everybody the same share where that works", () => {
    assert.deepEqual([...splitEvenly(900, ["ada", "ben", "cleo"])], [["ada", 300], ["ben", 300], ["cleo", 300]]);
  });

  it("hands the cents that are left to the first people", () => {
    assert.deepEqual([...splitEvenly(1001, ["ada", "ben", "cleo"])], [["ada", 334], ["ben", 334], ["cleo", 333]]);
  });

  it("never loses a cent", () => {
    const people = ["ada", "ben", "cleo", "dan", "eve", "fay", "gus"];
    for (let cents = 0; cents < 500; cents += 1) {
      for (let count = 1; count <= people.length; count += 1) {
        const shares = [...splitEvenly(cents, people.slice(0, count)).values()];
        assert.equal(shares.reduce((sum, share) => sum + share, 0), cents, `${cents} cents among ${count}`);
      }
    }
  });

  it("needs somebody to share with", () => {
    assert.throws(() => splitEvenly(100, []), /at least one person/);
  });
});
