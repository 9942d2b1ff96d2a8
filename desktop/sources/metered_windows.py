"""Windows' cost of the connection to the internet, by Windows PowerShell 5.1.

`NetworkInformation.GetInternetConnectionProfile().GetConnectionCost()` (Microsoft Learn,
Windows.Networking.Connectivity). Windows PowerShell reads these types by itself; the same by COM
(`INetworkCostManager.GetCost`) would be an interface's table written out here.
"""

from desktop.sources.commands import LIMIT_S, ToolFailure, run_tool

_TYPE = (
    "Windows.Networking.Connectivity.NetworkInformation,"
    "Windows.Networking.Connectivity,ContentType=WindowsRuntime"
)
_SCRIPT = (
    "$ErrorActionPreference='Stop';"
    "[Console]::OutputEncoding=[Text.Encoding]::UTF8;"
    f"$c=[{_TYPE}]::GetInternetConnectionProfile().GetConnectionCost();"
    "ConvertTo-Json -Compress @{NetworkCostType=[int]$c.NetworkCostType;Roaming=$c.Roaming;"
    "OverDataLimit=$c.OverDataLimit}"
)


def read_cost(limit_s: float = LIMIT_S) -> str | ToolFailure:
    """A JSON object of the cost; without a connection a failure. No names of networks."""
    command = ["powershell.exe", "-NoProfile", "-NonInteractive", "-Command", _SCRIPT]
    return run_tool(command, limit_s)
