import { describe, expect, it } from "vitest";
import { aliasesOf, type MountEntry, placeOf } from "./mount-table.ts";
import { isInPlace } from "./sandbox-gate.ts";

const mount = (device: string, root: string, path: string, isWritable = true): MountEntry => ({ device, root, path, isWritable });
const outside = [mount("8:1", "/", "/"), mount("8:2", "/", "/home"), mount("8:2", "/ada", "/mnt/ada")];

describe("the table of mounts", () => {
  it("tells where a path stands on its device, and under which other paths it can be seen", () => {
    expect(placeOf("/home/ada/key", outside)).toEqual({ device: "8:2", root: "/ada/key" });
    expect(placeOf("/etc", outside)).toEqual({ device: "8:1", root: "/etc" });
    expect(aliasesOf("/home/ada/key", outside)).toEqual(["/mnt/ada/key"]);
    expect(aliasesOf("/mnt/ada/key", outside)).toEqual(["/home/ada/key"]);
    expect(aliasesOf("/home/bob", outside)).toEqual([]);
  });

  it("shows a mount that is not what was planned: another folder, another path, or writable", () => {
    const inside = [mount("8:1", "/", "/", false), mount("8:2", "/ada/project", "/home/ada/project")];
    expect(isInPlace({ path: "/home/ada/project", as: "writable" }, inside, outside)).toBe(true);
    expect(isInPlace({ path: "/home/ada/project/sub", as: "writable" }, inside, outside)).toBe(false);
    const elsewhere = [...inside, mount("8:2", "/bob", "/home/ada/project/sub")];
    expect(isInPlace({ path: "/home/ada/project/sub", as: "writable" }, elsewhere, outside)).toBe(false);
    const kept = (isWritable: boolean): boolean =>
      isInPlace(
        { path: "/home/ada/project/.git", as: "read-only" },
        [...inside, mount("8:2", "/ada/project/.git", "/home/ada/project/.git", isWritable)],
        outside,
      );
    expect([kept(false), kept(true)]).toEqual([true, false]);
  });
});
