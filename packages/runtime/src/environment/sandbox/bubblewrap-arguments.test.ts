import { describe, expect, it } from "vitest";
import { bubblewrapArguments } from "./bubblewrap-arguments.ts";

/** The arguments for these programs, each mount as `source>target`, in order. */
function bound(programs: readonly string[], showsAll: boolean): readonly string[] {
  const args = bubblewrapArguments({
    mounts: [],
    showsAll,
    programs,
    cwd: "/",
    temporaryBytes: 1024,
    hiddenPrograms: [],
    variables: [],
    filterFd: 4,
    statusFd: 3,
  });
  return args.flatMap((argument, index) =>
    argument === "--ro-bind" ? [`${args[index + 1]}>${args[index + 2]}`] : argument === "--tmpfs" ? [`private ${args[index + 1]}`] : [],
  );
}

describe("the programs that a sandbox needs", () => {
  it("are there also where they stand in a folder that is private to each command", () => {
    for (const program of ["/tmp/checkout/node", "/var/tmp/node", "/run/user/node"]) {
      const mounts = bound([program], true);
      const folder = mounts.find((mount) => mount.startsWith("private ") && program.startsWith(`${mount.slice("private ".length)}/`));
      expect(mounts.indexOf(`${program}>${program}`)).toBeGreaterThan(mounts.indexOf(folder ?? "none"));
      expect(folder).toBeDefined();
    }
  });

  it("are not mounted where they can be seen anyway", () => {
    expect(bound(["/usr/bin/node"], true)).not.toContain("/usr/bin/node>/usr/bin/node");
    expect(bound(["/usr/bin/node"], false)).toContain("/usr/bin/node>/usr/bin/node");
  });
});
