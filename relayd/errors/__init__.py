"""What the daemon refuses or cannot do, as one tree; what an outbox raises is in `relay_queue.errors`.

    RelaydError
    ├── in start.py
    │   ├── HomeRefused         the home cannot be used
    │   ├── AlreadyRunning      another daemon holds the home
    │   ├── ConfigRefused       a setting is unknown or wrong
    │   ├── ListenerRefused     no socket to serve on
    │   └── MachineShort        the system gives no more of something that a start needs
    ├── in request.py
    │   ├── RequestUnreadable   a request is no HTTP
    │   ├── HeadTooLarge        a request line and headers are over their limit
    │   ├── NotFound            nothing is at this path
    │   ├── MethodRefused       not with this method
    │   ├── MediaTypeRefused    a request body is not said to be JSON
    │   ├── ParameterRefused    a parameter or a member of a request breaks a rule
    │   ├── PayloadTooLarge     a request body is over its limit
    │   ├── Stopping            the daemon is leaving
    │   ├── UpgradePending      another version was installed, and the daemon has not changed to it yet
    │   └── Internal            a fault of ours; the log has it
    ├── in queue.py
    │   ├── FlushInProgress     another flush of this queue is under way
    │   ├── EventsPending       a queue that is to be forgotten still holds events
    │   ├── UnknownQueue        no queue has this name
    │   ├── HookRefused         the call of a hook breaks a rule
    │   ├── OtherHome           a hook's request is for another home or protocol
    │   └── SpoolBehind         older hook events must be taken in first
    ├── in project.py
    │   ├── LinkRefused         a directory cannot be linked to a project
    │   ├── ProjectNeeded       a directory is to be linked, and no project can be told from it
    │   ├── UnknownProject      no project has this name
    │   ├── ProjectTaken        a project or an alias has this name already
    │   └── ScopeNeeded         neither a project was named nor everything, and the directory is of none
    └── in memory.py
        ├── UnknownItem         nothing in the memory has this identifier
        ├── AmbiguousId         the beginning of an identifier fits several
        ├── Superseded          what is to be changed was superseded or forgotten
        └── SecretRefused       a text holds what looks like a credential

No message holds a value of a request: it may be a secret.
"""

from relayd.errors.base import RelaydError
from relayd.errors.memory import AmbiguousId, SecretRefused, Superseded, Suspect, UnknownItem
from relayd.errors.project import LinkRefused, ProjectNeeded, ProjectTaken, ScopeNeeded, UnknownProject
from relayd.errors.queue import (
    EventsPending,
    FlushInProgress,
    HookRefused,
    OtherHome,
    SpoolBehind,
    UnknownQueue,
)
from relayd.errors.request import (
    HeadTooLarge,
    Internal,
    MediaTypeRefused,
    MethodRefused,
    NotFound,
    ParameterRefused,
    PayloadTooLarge,
    RequestUnreadable,
    Stopping,
    UpgradePending,
)
from relayd.errors.start import AlreadyRunning, ConfigRefused, HomeRefused, ListenerRefused, MachineShort

__all__ = (
    "AlreadyRunning",
    "AmbiguousId",
    "ConfigRefused",
    "EventsPending",
    "FlushInProgress",
    "HeadTooLarge",
    "HomeRefused",
    "HookRefused",
    "Internal",
    "LinkRefused",
    "ListenerRefused",
    "MachineShort",
    "MediaTypeRefused",
    "MethodRefused",
    "NotFound",
    "OtherHome",
    "ParameterRefused",
    "PayloadTooLarge",
    "ProjectNeeded",
    "ProjectTaken",
    "RelaydError",
    "RequestUnreadable",
    "ScopeNeeded",
    "SecretRefused",
    "SpoolBehind",
    "Stopping",
    "Superseded",
    "Suspect",
    "UnknownItem",
    "UnknownProject",
    "UnknownQueue",
    "UpgradePending",
)
