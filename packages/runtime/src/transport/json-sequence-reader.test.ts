import { ModelError } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonSequenceReader } from "./json-sequence-reader.ts";

function read(kind: "array" | "object", chunks: readonly Uint8Array[], maxEventLength?: number): unknown[] {
  const values: unknown[] = [];
  const reader = new JsonSequenceReader(
    { event: (text, start, end) => void values.push(JSON.parse(text.slice(start, end))) },
    kind,
    maxEventLength === undefined ? {} : { maxEventLength },
  );
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return values;
}

function cut(text: string, sizes: readonly number[]): Uint8Array[] {
  const bytes = Buffer.from(text);
  const chunks: Uint8Array[] = [];
  for (let at = 0, next = 0; at < bytes.length; next += 1) {
    const size = sizes[next % sizes.length] ?? 1;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

const structured = fc.oneof(fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue()), fc.array(fc.jsonValue()));
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 });

describe("JsonSequenceReader", () => {
  it("hands over the values of NDJSON however the bytes are cut [PV-03]", () => {
    fc.assert(
      fc.property(
        fc.array(structured),
        sizes,
        fc.constantFrom(undefined, 2),
        fc.constantFrom("\n", "\r\n", ""),
        (values, cuts, indent, end) => {
          const text = values.map((value) => JSON.stringify(value, undefined, indent) + end).join("");
          expect(read("object", cut(text, cuts))).toEqual(values.map((value) => JSON.parse(JSON.stringify(value)) as unknown));
        },
      ),
    );
  });

  it("hands over the elements of an array before the array ends, however the bytes are cut [PV-03]", () => {
    fc.assert(
      fc.property(
        fc.array(fc.dictionary(fc.string(), fc.jsonValue())),
        sizes,
        fc.constantFrom(",", ",\r\n", "\n,\n"),
        (values, cuts, comma) => {
          const text = `[${values.map((value) => JSON.stringify(value)).join(comma)}`;
          const expected = values.map((value) => JSON.parse(JSON.stringify(value)) as unknown);
          expect(read("array", cut(text, cuts))).toEqual(expected);
          expect(read("array", cut(`${text}\n]\n`, cuts))).toEqual(expected);
        },
      ),
    );
  });

  it("keeps back a value that never ends", () => {
    expect(read("object", [Buffer.from('{"a":1}\n{"b":"}')])).toEqual([{ a: 1 }]);
  });

  it("hands over what is no value, too, since it must not be overlooked", () => {
    expect(() => read("object", [Buffer.from('{"a":1}\nInternal Server Error\n{"b":2}')])).toThrow(SyntaxError);
    const seen: string[] = [];
    const reader = new JsonSequenceReader({ event: (text, start, end) => void seen.push(text.slice(start, end)) }, "object");
    reader.push(Buffer.from('{"a":1}\nInternal Server Error\n{"b":2}'));
    expect(seen).toEqual(['{"a":1}', "Internal Server Error", '{"b":2}']);
  });

  it("refuses a value that is too long, without holding it", () => {
    const long = `{"text":"${"x".repeat(200)}"}`;
    expect(() => read("object", cut(long, [10]), 100)).toThrow(/longer than 100 characters/);
    expect(() => read("object", cut(long, [10]), 100)).toThrow(ModelError);
    expect(read("object", cut('{"a":"0123456789"}\n'.repeat(50), [7]), 100)).toHaveLength(50);
  });
});
