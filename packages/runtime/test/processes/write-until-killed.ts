import { createFsStore, createSqliteEventLog } from "keelson/state";
import { writeWithoutEnd } from "./write-without-end.ts";

const [kind = "", path = "", writer = "", from = "0"] = process.argv.slice(2);
const stores = kind === "file" ? { state: createFsStore(path), async [Symbol.asyncDispose]() {} } : createSqliteEventLog(path);
await writeWithoutEnd(stores, writer, Number(from));
