import { expect, it } from "vitest";
import { oneAtATime } from "./one-at-a-time.ts";

it("begins each call when those before it are over, however they ended", async () => {
  const said: string[] = [];
  const endings: ((error?: Error) => void)[] = [];
  const work = oneAtATime(() => {
    said.push(`begins ${said.length}`);
    return new Promise((resolve, reject) => endings.push((error) => (error ? reject(error) : resolve())));
  });
  const calls = [work(), work(), work()];
  const rest = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  await rest();
  expect(said).toHaveLength(1);
  endings[0]?.(new Error("it fails"));
  await expect(calls[0]).rejects.toThrow("it fails");
  await rest();
  expect(said).toHaveLength(2);
  endings[1]?.();
  await calls[1];
  await rest();
  endings[2]?.();
  await calls[2];
  expect(said).toHaveLength(3);
});
