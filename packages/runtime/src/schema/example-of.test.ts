import { describe, expect, it } from "vitest";
import { exampleOf } from "./example-of.ts";

describe("an example of a schema", () => {
  it("shows the required properties, with what the schema offers for them [TL-09]", () => {
    expect(
      exampleOf({
        type: "object",
        properties: {
          path: { type: "string" },
          mode: { enum: ["fast", "slow"] },
          depth: { type: "integer", minimum: 3 },
          tags: { type: "array", items: { type: "string" } },
          when: { type: "string", examples: ["2026-01-01"] },
          extra: { type: "string" },
          nested: { $ref: "#/$defs/nested" },
          both: { anyOf: [{ type: "boolean" }, { type: "null" }] },
        },
        required: ["path", "mode", "depth", "tags", "when", "nested", "both"],
        $defs: { nested: { type: "object", properties: { on: { const: true } }, required: ["on"] } },
      }),
    ).toStrictEqual({ path: "<path>", mode: "fast", depth: 3, tags: ["<tags>"], when: "2026-01-01", nested: { on: true }, both: true });
  });

  it("is left out rather than wrong", () => {
    expect(exampleOf({ type: "object", properties: { id: { type: "string", pattern: "^\\d+$" } }, required: ["id"] })).toBeUndefined();
    expect(exampleOf({ type: "object", properties: { self: { $ref: "#" } }, required: ["self"] })).toBeUndefined();
    expect(exampleOf({ type: "object", dependentRequired: {} })).toBeUndefined();
  });
});
