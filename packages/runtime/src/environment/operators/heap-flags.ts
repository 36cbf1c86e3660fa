import { EnvironmentError, type EnvironmentSpec } from "@keelson/protocol";
import { parseSize } from "../sandbox/parse-size.ts";

/**
 * What Node is told, so that its JavaScript holds no more than a spec allows.
 * @throws EnvironmentError `provision-failed` for what is no size
 */
export function heapFlags({ resources }: EnvironmentSpec): readonly string[] {
  if (resources?.memory === undefined) return [];
  const bytes = parseSize(resources.memory);
  // Node takes MiB.
  if (bytes === undefined || bytes < 2 ** 20)
    throw new EnvironmentError({
      kind: "provision-failed",
      message: `The limit of memory "${resources.memory}" is no size of at least 1 MiB. Give one such as "512Mi" or "2G".`,
    });
  return [`--max-old-space-size=${Math.floor(bytes / 2 ** 20)}`];
}
