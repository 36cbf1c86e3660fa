import { expect, it } from "vitest";
import { readExactMembers } from "./exact-members.ts";

it("Each option that may be left out may be `undefined`.", () => {
  expect(readExactMembers()).toEqual([]);
}, 60_000);
