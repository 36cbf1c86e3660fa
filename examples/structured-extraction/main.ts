// Facts out of a letter, as data of a known type: a response that does not match goes back to the model, and the parts show as they stream.
import assert from "node:assert/strict";
import { scriptedModel } from "keelson/testing";

const letter = "Dear Ada, we owe you for 3 pens at 1.20 and an inkwell at 7.00. Yours, Grace, 2 May 2026";
const shown: string[] = [];
const show = (lines: readonly { readonly item?: string | undefined }[]): void =>
  void shown.push(lines.map(({ item }) => item ?? "…").join(", "));

const lines = [
  { item: "pens", pieces: 3, price: 1.2 },
  { item: "inkwell", pieces: 1, price: 7 },
];
const model = scriptedModel([
  // Says the day as the letter does, which the schema refuses.
  { toolCalls: [{ name: "final_answer", input: { to: "Ada", day: "2 May 2026", lines } }], chunkSize: 4 },
  { toolCalls: [{ name: "final_answer", input: { to: "Ada", day: "2026-05-02", lines } }], chunkSize: 4 },
]);

// #region extract
import { createAgent, createRunner } from "keelson";
import { z } from "zod";

const invoice = z.object({
  to: z.string(),
  day: z.iso.date().describe("as in 2026-12-31"),
  lines: z.array(z.object({ item: z.string(), pieces: z.number().int().positive(), price: z.number() })),
});

const agent = createAgent({ name: "clerk", model, instructions: "Read invoices out of letters.", output: invoice });

const run = createRunner({ agent }).run(letter);
for await (const part of run.partialOutput()) show(part.lines ?? []); // grows as the model writes
const { output, error } = await run.outcome;
// #endregion

assert.equal(error, undefined);
assert.deepEqual(output, { to: "Ada", day: "2026-05-02", lines });
assert.ok(shown.includes("pen") && shown.includes("pens, inkw"));
assert.equal(shown.at(-1), "pens, inkwell");
assert.equal(model.requests.length, 2);
assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /day: Invalid ISO date/);

const total = { properties: { total: { type: "number", minimum: 0 } } };
const words = scriptedModel(["I make that ten sixty.", "Total: 10.60"]);

// #region modes
const adder = createAgent({
  name: "adder",
  model: words,
  output: { type: "object", ...total, required: ["total"] }, // a plain JSON Schema
  outputMode: {
    type: "custom",
    extract: (text) => (/Total: [\d.]+/.test(text) ? { total: Number(/[\d.]+/.exec(text)?.[0]) } : undefined),
  },
  limits: { maxRepairs: 1 },
});
// #endregion

const added = await createRunner({ agent: adder }).run(letter).outcome;
assert.deepEqual(added.output, { total: 10.6 });

const stubborn = createAgent({ name: "stubborn", model: scriptedModel(["no", "no"]), output: invoice, limits: { maxRepairs: 1 } });
const reasons: string[] = [];
// #region failure
const failed = await createRunner({ agent: stubborn }).run(letter).outcome;
if (failed.error?.failure.kind === "invalid-output") reasons.push(...failed.error.failure.issues, failed.error.failure.text);
// #endregion

assert.equal(failed.reason, "error");
assert.deepEqual(reasons, ["the output was not given by a call of final_answer", "no"]);
console.log(`structured-extraction: ${output?.lines.length} lines for ${output?.to}, after ${model.requests.length - 1} repair`);
