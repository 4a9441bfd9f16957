// setup_test.ts
// @ts-nocheck

// A user and a team are there
function TestSystemReady(t: testing.T, ctx: agent.Context) {
  const { assert } = t;

  // Call what is tested
  const result = SystemReady(ctx);

  // Look at what came back
  assert.True(result, "a known user should be enough");
}

// The error case
function TestSystemReadyWithInvalidContext(t: testing.T, ctx: agent.Context) {
  const { assert } = t;

  // Nobody is logged in
  ctx.User = null;

  const result = SystemReady(ctx);
  assert.False(result, "nothing should be ready without a user");
}

// A helper: no test, its name starts with something else
function createMockData() {
  return { id: 1, name: "sample" };
}

// A test with a helper
function TestSetupWithMockData(t: testing.T, ctx: agent.Context) {
  const { assert } = t;
  const mockData = createMockData();

  const result = Setup(ctx, mockData);
  assert.NotNil(result, "something should come back");
  assert.Equal(result.id, 1, "the id should be kept");
}

function testLowerCase(t) {
  t.fatal("names are case-sensitive: this is no test");
}

function setupTestContext(ctx) {
  ctx.Metadata.testMode = true;
  return ctx;
}

function TestFeatureA(t, ctx) {
  ctx = setupTestContext(ctx);
  t.assert.Equal(Setup(ctx, { id: 2 }), { id: 2, mode: "test" });
}

function TestSetupWithMissingConfig(t, ctx) {
  const { assert } = t;
  ctx.Metadata.config = null;

  const result = Setup(ctx);
  assert.Error(result.error, "a missing configuration should be an error");
}

function TestWithGlobalState(t, ctx) {
  const originalValue = GlobalConfig.value;
  try {
    GlobalConfig.value = "test";
    t.assert.Equal(Setup(ctx).mode, "test");
  } finally {
    GlobalConfig.value = originalValue;
  }
  t.assert.Equal(Setup(ctx).mode, "production");
}
