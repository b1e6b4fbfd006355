-- What wrk sends, as the environment says it, and what came back, as one line of JSON.

local apiKey = os.getenv("LOAD_API_KEY") or ""
local getKey = os.getenv("LOAD_GET_KEY") or ""
local pathsFile = os.getenv("LOAD_PATHS") or ""
local bodyFile = os.getenv("LOAD_BODY") or ""
local createEach = tonumber(os.getenv("LOAD_CREATE_EACH") or "") or 0
local delay_ms = tonumber(os.getenv("LOAD_DELAY_MS") or "") or 0
local createPath = os.getenv("LOAD_CREATE_PATH") or ""

local ways = {}
local sent = 0
local headers = { ["content-type"] = "application/json", ["x-api-key"] = apiKey }
local body

local function get()
  return ways[sent % #ways + 1]
end

-- A body has its own number wherever %d stands.
local function create()
  return wrk.format("POST", createPath, headers, (body:gsub("%%d", tostring(sent))))
end

local function read(file)
  local handle = assert(io.open(file, "r"))
  local text = handle:read("*a")
  handle:close()
  return text
end

function init()
  math.randomseed(os.time())
  if getKey ~= "" then wrk.headers["x-api-key"] = getKey end
  if bodyFile ~= "" then body = read(bodyFile) end
  if pathsFile ~= "" then
    for path in read(pathsFile):gmatch("[^\n]+") do
      ways[#ways + 1] = wrk.format("GET", path)
    end
  end
end

-- Without `request`, wrk sends one request that is made once: its fastest way.
if createEach == 1 then
  function request()
    sent = sent + 1
    return create()
  end
elseif createEach > 1 then
  function request()
    sent = sent + 1
    return sent % createEach == 0 and create() or get()
  end
elseif pathsFile ~= "" then
  function request()
    sent = sent + 1
    return get()
  end
end

if delay_ms > 0 then
  function delay()
    return math.random(0, 2 * delay_ms)
  end
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    'LOAD {"count":%d,"seconds":%.6f,"p50_ms":%.3f,"p99_ms":%.3f,"p999_ms":%.3f,"errors":%d}',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    latency:percentile(99.9) / 1e3,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout
  ))
end
