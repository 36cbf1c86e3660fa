import { expect, it } from "vitest";
import { memorySize } from "./memory-size.ts";

it("a size of memory is bytes, or a share of the machine's", () => {
  expect(["512MiB", 4096, "50%", "12.5 %"].map((given) => memorySize(given, 1000))).toEqual([512 * 2 ** 20, 4096, 500, 125]);
  expect(["0%", "101%", "%", "half", -1].map((given) => memorySize(given, 1000))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect(memorySize("50%")).toBeGreaterThan(0);
});
