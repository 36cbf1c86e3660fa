import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseTab } from "../src/tab.js";

describe("parseTab", () => {
  it("reads payer, amount, people and remark", () => {
    assert.deepEqual(parseTab("ada paid 90.00 for ada, ben: hut"), [{ payer: "ada", cents: 9000, people: ["ada", "ben"], remark: "hut" }]);
  });

  it("skips empty lines and comments", () => {
    assert.deepEqual(parseTab("# trip\n\n"), []);
  });

  it("lets everyone stand for everybody who is named in the tab", () => {
    const [, taxi] = parseTab("ada paid 10 for ben, cleo\ndan paid 20 for everyone");
    assert.deepEqual(taxi.people, ["ada", "ben", "cleo", "dan"]);
  });

  it("says which line it cannot read", () => {
    assert.throws(() => parseTab("ada paid 10 for ben\nben owes ada"), /line 2: expected/);
  });
});
