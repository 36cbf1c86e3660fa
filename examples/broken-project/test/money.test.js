import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { formatAmount, parseAmount } from "../src/money.js";

describe("parseAmount", () => {
  it("reads whole amounts", () => {
    assert.equal(parseAmount("12"), 1200);
    assert.equal(parseAmount(" 0 "), 0);
  });

  it("reads two decimal places", () => {
    assert.equal(parseAmount("12.50"), 1250);
    assert.equal(parseAmount("7.05"), 705);
  });

  it("reads one decimal place as tenths", () => {
    assert.equal(parseAmount("12.5"), 1250);
  });

  it("refuses what is no amount", () => {
    for (const text of ["", "twelve", "-3", "12.505", "1,50"]) assert.throws(() => parseAmount(text), /is no amount/);
  });
});

describe("formatAmount", () => {
  it("writes two decimal places", () => {
    assert.equal(formatAmount(1250), "12.50");
    assert.equal(formatAmount(-705), "-7.05");
  });

  it("writes a plus where it is asked for", () => {
    assert.equal(formatAmount(5, { sign: true }), "+0.05");
    assert.equal(formatAmount(0, { sign: true }), "0.00");
  });
});
