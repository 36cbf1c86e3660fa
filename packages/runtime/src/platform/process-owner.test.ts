import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { isDeadOwner, processOwner } from "./process-owner.ts";

const [place = "", start, boot, namespace] = processOwner().split(":");
const host = place.slice(place.indexOf("@"));

/** The owner of a process that ran here just now. */
async function deadOwner(): Promise<string> {
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  return `${child.pid}${host}:${start}:${boot}:${namespace}`;
}

it("names one process the same each time, and several owners in it apart", () => {
  expect(processOwner()).toBe(processOwner());
  expect(place).toBe(`${process.pid}${host}`);
  expect(processOwner("runner-2")).toBe(`${processOwner()}:runner-2`);
});

it("takes this process for alive, under any instance name", () => {
  expect(isDeadOwner(processOwner())).toBe(false);
  expect(isDeadOwner(processOwner("x:y"))).toBe(false);
});

it("knows a process of this host that has ended", async () => {
  const owner = await deadOwner();
  expect(isDeadOwner(owner)).toBe(true);
  expect(isDeadOwner(`${owner}:instance`)).toBe(true);
});

it.runIf(process.platform === "linux")("is not deceived by a new process under an old number", () => {
  expect(isDeadOwner(`${process.ppid}${host}:1:${boot}:${namespace}`)).toBe(true);
  expect(isDeadOwner(`${process.pid}${host}:1:${boot}:${namespace}`)).toBe(true);
});

it.runIf(process.platform === "linux")("takes a process that has ended but was not waited for as dead", async () => {
  // The shell starts `true` and becomes `sleep`, which never waits for it.
  const child = spawn("sh", ["-c", "true & echo $!; exec sleep 30"], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string];
  const owner = `${Number(line)}${host}:${start}:${boot}:${namespace}`;
  await expect.poll(() => isDeadOwner(owner)).toBe(true);
  child.kill("SIGKILL");
});

it("calls nobody dead of whom it can't know", async () => {
  const [pid] = (await deadOwner()).split("@");
  for (const owner of [
    "someone",
    "",
    `${pid}@elsewhere:${start}:${boot}:${namespace}`,
    `${pid}${host}:${start}:otherboot:${namespace}`,
    `${pid}${host}:${start}:${boot}:1`,
    `x${host}:${start}:${boot}:${namespace}`,
    `-1${host}:${start}:${boot}:${namespace}`,
  ]) {
    expect(isDeadOwner(owner), owner).toBe(false);
  }
});
