// @ts-nocheck
// Plain style: no imports. The functions of setup.ts are there, because both files are loaded together.

// Everybody is known and everything is configured
function TestSystemReady(t: testing.T, ctx: agent.Context) {
  const { assert } = t;
  Setup(ctx, createTeamSettings());

  const result = SystemReady(ctx);

  assert.True(result, "SystemReady should return true");
  assert.Equal(MissingParts(ctx), []);
}

function TestSystemReadyWithInvalidContext(t: testing.T, ctx: agent.Context) {
  const { assert } = t;
  Setup(ctx, createTeamSettings());

  // Simulate a request without a login; the change ends with the test
  ctx.User = null;

  assert.False(SystemReady(ctx), "SystemReady should return false when user is null");
  assert.Equal(MissingParts(ctx), ["user"]);

  ctx.User = { ID: "erik" };
  ctx.Team = null;
  assert.Equal(MissingParts(ctx), ["team"]);
  assert.Equal(LoadSettings(ctx), null);
}

// Stores are empty when a test begins: no test sees what another one stored
function TestSystemReadyBeforeSetup(t: testing.T, ctx: agent.Context) {
  const { assert } = t;

  assert.False(SystemReady(ctx), "nothing is configured yet");
  assert.Equal(MissingParts(ctx), ["settings"]);
}

function TestSystemReadyNeedsEveryApprover(t: testing.T, ctx: agent.Context) {
  const { assert } = t;
  Setup(ctx, { approvers: { manager: ["maria"], finance: [] } });

  assert.Equal(MissingParts(ctx), ["approver for finance", "approver for cfo"]);
}

// Helper function (not a test: its name does not start with "Test")
function createTeamSettings() {
  return {
    id: "acme",
    name: "Acme Ltd.",
    approvers: { manager: ["maria"], finance: ["felix", "fatima"], cfo: ["carla"] },
  };
}

function TestSetupWithMockData(t: testing.T, ctx: agent.Context) {
  const { assert } = t;

  const result = Setup(ctx, createTeamSettings());

  assert.NotNil(result, "Setup should return a result");
  assert.NoError(result.error);
  assert.Equal(result.id, "acme", "Result ID should match");
  assert.JSONPath(result, "settings.approvers.finance[1]", "fatima");
}

function TestSetupFillsInDefaults(t: testing.T, ctx: agent.Context) {
  const { assert } = t;

  const { settings, defaults } = Setup(ctx, { name: "Acme Ltd." });

  assert.Equal(defaults, ["id", "policy", "approvers", "webhook"]);
  assert.Equal(settings.id, ctx.Team.ID);
  assert.Equal(settings.webhook, "");
  assert.JSONPath(settings, "$.policy.rules.meals.limit", 60);

  ctx.Team = { ID: "sales", Name: "Sales Dept." };
  assert.Equal(Setup(ctx).settings.name, "Sales Dept.");
  ctx.Team = { ID: "lab" };
  assert.Equal(Setup(ctx).settings.name, "lab", "a team without a name has its id");
}

function TestSetupKeepsWhatTheTeamHas(t: testing.T, ctx: agent.Context) {
  const { assert } = t;
  Setup(ctx, createTeamSettings());

  Setup(ctx, { webhook: "https://chat.example.com/finance" });

  const settings = LoadSettings(ctx);
  assert.Equal(settings.name, "Acme Ltd.");
  assert.Equal(settings.webhook, "https://chat.example.com/finance");
}

function TestSetupIsDoneForOneTeam(t: testing.T, ctx: agent.Context) {
  const { assert } = t;
  Setup(ctx, createTeamSettings());

  ctx.Team = { ID: "another-team" };

  assert.Nil(LoadSettings(ctx), "another team should have no settings");
  assert.False(SystemReady(ctx));
}

function TestSetupRejectsUnknownRoles(t: testing.T, ctx: agent.Context) {
  const { assert } = t;

  const result = Setup(ctx, { approvers: { janitor: ["jan"] } });

  assert.Error(result.error, "Should return error for a role without a signature");
  assert.Contains(result.error, "janitor");
  assert.Nil(LoadSettings(ctx), "nothing should be stored");
  assert.Equal(Setup(ctx, { approvers: { janitor: [], cook: [] } }).error, "The policy has no role janitor, cook");

  ctx.User = null;
  assert.Equal(Setup(ctx), { error: "Setup needs a user and a team" });
  ctx.User = { ID: "erik" };
  ctx.Team = null;
  assert.Equal(Setup(ctx), { error: "Setup needs a user and a team" });
}

function TestSetupChoosesACurrency(t: testing.T, ctx: agent.Context) {
  const { assert } = t;

  for (const [locale, currency] of [["en-us", "USD"], ["en-gb", "GBP"], ["ja-jp", "JPY"], ["de-de", "EUR"]]) {
    ctx.Locale = locale;
    ctx.memory.user.Del("currency");
    Setup(ctx);
    assert.Equal(ctx.memory.user.Get("currency"), currency, locale);
  }
}

function TestSetupRespectsTheCurrencyOfTheUser(t: testing.T, ctx: agent.Context) {
  const { assert } = t;
  ctx.memory.user.Set("currency", "CHF");

  Setup(ctx);

  assert.Equal(ctx.memory.user.Get("currency"), "CHF");
}
