// #region contracts
import { describeBlobStore, describeBudgetLedger, describeEventLog } from "keelson/testing/contracts";
import { createKeyedBlobStore } from "../examples/own-store/keyed-blob-store.ts";
import { createKeyedBudgetLedger } from "../examples/own-store/keyed-budget-ledger.ts";
import { createKeyedEventLog } from "../examples/own-store/keyed-event-log.ts";
import { KeyedServer } from "../examples/own-store/keyed-server.ts";

describeEventLog("a log on a server of keys", (now) => createKeyedEventLog(new KeyedServer(), now));
describeBudgetLedger("a ledger on a server of keys", (options) => createKeyedBudgetLedger(new KeyedServer(), options));
describeBlobStore("blobs on a server of keys", async () => createKeyedBlobStore(new KeyedServer()));
// #endregion
