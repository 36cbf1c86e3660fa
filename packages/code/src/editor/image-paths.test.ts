import { describe, expect, it } from "vitest";
import { findImagePaths } from "./image-paths.ts";

describe("findImagePaths", () => {
  it.each([
    ["@shot.png", ["shot.png"]],
    ["(see @docs/a.JPG), @b.webp.", ["docs/a.JPG", "b.webp"]],
    ['@"my shot.png"', ["my shot.png"]],
    ["'/tmp/my shot.png' ", ["/tmp/my shot.png"]],
    ['"~/my shot.png"', ["~/my shot.png"]],
    ["/tmp/my\\ shot\\(1\\).png", ["/tmp/my shot(1).png"]],
    ["file:///tmp/my%20shot.png", ["/tmp/my shot.png"]],
    ["/tmp/a.png /tmp/b.gif", ["/tmp/a.png", "/tmp/b.gif"]],
  ])("finds the paths in %s", (text, paths) => {
    expect(findImagePaths(text).map(({ path }) => path)).toEqual(paths);
  });

  it.each(["shot.png is missing", "me@host.png", "http://example.com/a.png", "@shot.png.bak", "docs/a.png", "file://host/a.png"])(
    "finds none in %s",
    (text) => {
      expect(findImagePaths(text)).toEqual([]);
    },
  );
});
