import { afterEach, describe, expect, it, vi } from "vitest";
import { PartialJson } from "../../../json/index.ts";
import { foldInferEvents } from "../../../providers/infer-fold.ts";
import { compileOutputForm } from "../../definition/output/output-form.ts";
import { PartialOutputs } from "./partial-outputs.ts";

const rows = Array.from({ length: 3_000 }, (_, index) => ({ id: index, text: `row ${index}` }));
const text = JSON.stringify({ rows });
const form = compileOutputForm("a", { type: "object" }, "native");

afterEach(() => void vi.restoreAllMocks());

describe("the parts of a response", () => {
  it("cost work in proportion to the response, for a reader that looks after each character", async () => {
    let copied = 0;
    const snapshot = PartialJson.prototype.snapshot;
    vi.spyOn(PartialJson.prototype, "snapshot").mockImplementation(function (this: PartialJson) {
      copied += this.openMembers;
      return snapshot.call(this);
    });
    const partials = new PartialOutputs(form);
    const fold = foldInferEvents();
    partials.subscribe();
    partials.begin(fold);
    let seen = 0;
    let latest: unknown;
    for (const [index, char] of [...text].entries()) {
      const event = { type: "text-delta", text: char } as const;
      fold.push(event);
      partials.push(event);
      // Once there is something to see, who asks anew gets the newest value at once.
      if (index < '{"rows":['.length) continue;
      const { value } = await partials.subscribe().next();
      if (value !== latest) seen++;
      latest = value;
    }
    expect(latest).toEqual({ rows });
    expect(copied).toBeLessThan(10 * text.length);
    // Looked at after each character, all of it would have been copied about 75 million times.
    expect(copied).toBeGreaterThan(text.length);
    expect(seen).toBeGreaterThan(100);
  });

  it("are not read while nobody asks; who asks then gets what came before", async () => {
    const push = vi.spyOn(PartialJson.prototype, "push");
    const partials = new PartialOutputs(form);
    const fold = foldInferEvents();
    partials.begin(fold);
    for (const char of '{"a": "b') {
      const event = { type: "text-delta", text: char } as const;
      fold.push(event);
      partials.push(event);
    }
    expect(push).not.toHaveBeenCalled();
    const values = partials.subscribe();
    expect((await values.next()).value).toEqual({ a: "b" });
    expect(push).toHaveBeenCalledTimes(1);
  });

  it("go on where a response was cut off and told to", async () => {
    const partials = new PartialOutputs(form);
    const values = partials.subscribe();
    partials.begin(foldInferEvents());
    partials.push({ type: "text-delta", text: '{"a": "b' });
    expect((await values.next()).value).toEqual({ a: "b" });
    partials.goOn('{"a": "b');
    partials.begin(foldInferEvents());
    partials.push({ type: "text-delta", text: "cd" });
    expect((await values.next()).value).toEqual({ a: "bcd" });
    partials.goOn("");
    partials.begin(foldInferEvents());
    partials.push({ type: "text-delta", text: '{"c":1,' });
    expect((await values.next()).value).toEqual({ c: 1 });
  });
});
