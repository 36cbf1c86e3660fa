import { McpError } from "@keelson/protocol";

/** What the work failed with. @throws where it did not, or with something else than an `McpError` */
export async function failureOf(work: Promise<unknown>): Promise<McpError["failure"]> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!McpError.is(error)) throw new Error(`no McpError: ${String(error)}`);
  return error.failure;
}
