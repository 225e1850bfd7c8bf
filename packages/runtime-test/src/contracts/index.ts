export { type ManualClock, manualClock } from "./store/manual-clock.ts";
export type { MakeStore, StoreCheck, StoreFeature, StoreUnderTest, Subject } from "./store/subject.ts";
export { storeChecks, storeContract, type StoreContractOptions, subjectOf } from "./store/store-contract.ts";
