"""Proxy variables as a shell may have them, all of a proxy that is not there."""

_NAMES = ('http_proxy', 'https_proxy', 'ftp_proxy', 'ws_proxy', 'all_proxy')

DEAD_PROXIES = {
    **{case: 'http://127.0.0.1:9' for name in _NAMES for case in (name, name.upper())},
    'NO_PROXY': '',
    'no_proxy': '',
}
