import { describe, expectTypeOf, it } from "vitest";
import type { FunctionCallingConfigMode as Mode } from "@google/genai";
import type { Mismatch, Unknown } from "./mismatch.ts";

type Theirs = {
  model: string;
  limit?: number | null;
  parts: Array<{ type: "text"; text: string } | { type: "image"; source: { url: string } }>;
  schema?: { [name: string]: unknown };
};
type Ours = { readonly model: string; readonly parts: readonly { readonly type: "text"; readonly text: string }[] };

describe("Misfit", () => {
  it("is nothing where ours is what theirs takes", () => {
    expectTypeOf<Mismatch<Ours, Theirs>>().toEqualTypeOf<never>();
    expectTypeOf<Mismatch<Ours & { limit?: number; schema?: { readonly a: 1 } }, Theirs>>().toEqualTypeOf<never>();
    expectTypeOf<Mismatch<{ role: "a" | "b" }, { role: "a" | "b" | "c" }>>().toEqualTypeOf<never>();
  });

  it("names members that theirs does not know, at any depth", () => {
    expectTypeOf<Mismatch<Ours & { limits?: number }, Theirs>>().toEqualTypeOf<".limits?">();
    type Part = { type: "image"; source: { url: string; detail?: string } };
    expectTypeOf<Mismatch<{ model: string; parts: Part[] }, Theirs>>().toEqualTypeOf<".parts[].source.detail?">();
  });

  it("names members that theirs must have, and ours has not or not always", () => {
    expectTypeOf<Mismatch<{ parts: [] }, Theirs>>().toEqualTypeOf<".model!">();
    expectTypeOf<Mismatch<{ model?: string; parts: [] }, Theirs>>().toEqualTypeOf<".model!">();
  });

  it("names values of the wrong type, and members of a union that theirs has not", () => {
    expectTypeOf<Mismatch<Ours & { limit: string }, Theirs>>().toEqualTypeOf<".limit">();
    expectTypeOf<Mismatch<{ model: string; parts: Ours["parts"][number] }, Theirs>>().toEqualTypeOf<".parts">();
    expectTypeOf<
      Mismatch<{ model: string; parts: ({ type: "text"; text: string } | { type: "audio" })[] }, Theirs>
    >().toEqualTypeOf<".parts[]">();
  });

  it("takes an enum's strings for its members", () => {
    expectTypeOf<Mismatch<{ mode: "ANY" }, { mode: Mode }>>().toEqualTypeOf<never>();
    expectTypeOf<Mismatch<{ mode: "ALL" }, { mode: Mode }>>().toEqualTypeOf<".mode">();
  });

  it("says nothing of what is excepted, nor of objects with names of any kind", () => {
    expectTypeOf<Mismatch<{ model: string; parts: Date[] }, Theirs, Date>>().toEqualTypeOf<never>();
    expectTypeOf<Mismatch<Ours & { schema: { [name: string]: string } }, Theirs>>().toEqualTypeOf<never>();
    expectTypeOf<Mismatch<Ours & { limit: { [name: string]: string } }, Theirs>>().toEqualTypeOf<".limit">();
  });
});

describe("Unknown", () => {
  it("names members that no member of the union has", () => {
    expectTypeOf<Unknown<{ a: 1; b?: 2; c: 3 }, { a: 1 } | { b: 1 }>>().toEqualTypeOf<"c">();
  });
});
