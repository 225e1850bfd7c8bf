import "fake-indexeddb/auto";

import { indexedDbContract } from "./indexed-db-contract.ts";

indexedDbContract("indexedDbStore without Web Locks", null);
