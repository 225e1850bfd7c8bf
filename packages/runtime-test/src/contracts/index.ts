export { type ManualClock, manualClock } from "./store/manual-clock.ts";
export type { MakeStore, StoreCheck, StoreFeature, StoreUnderTest, Subject } from "./store/subject.ts";
export { storeChecks, storeContract, type StoreContractOptions, subjectOf } from "./store/store-contract.ts";
export type {
  CallSetting,
  CallUnderTest,
  MakeModel,
  ModelCheck,
  ModelDialect,
  ModelFeature,
  ModelPath,
  ModelServer,
  ModelSubject,
} from "./model/subject.ts";
export { checksOfModel, modelChecks, modelContract, type ModelContractOptions } from "./model/model-contract.ts";
export { modelSubject } from "./model/call.ts";
