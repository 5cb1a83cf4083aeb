//! Files of landmarks.

/// Files in each format, whose first point is (1, 2, 3) in LPS.
pub const FILES: &[(&str, &str)] = &[
    ("a.csv", "x,y,z,t,label,comment\n1,2,3,0,1,\"a, b\"\n-10.5,20.25,1e2,0,2,\n"),
    ("b.csv", "name,Z,Y,X\nnose,3,2,1\n"),
    ("c.csv", "\u{feff}x\ty\tz\tname\r\n1\t2\t3\tnose\r\n4\t5\t6\t\r\n"),
    ("a.txt", "# nose\n1 2\t3\n\n  4,5,6\n"),
    (
        "a.fcsv",
        "# Markups fiducial file version = 4.10\n# CoordinateSystem = 0\n# columns = id,x,y,z,ow,ox,oy,oz,vis,sel,lock,label,desc,associatedNodeID\n\
                vtkMRMLMarkupsFiducialNode_0,-1,-2,3,0,0,0,1,1,1,0,F-1,,vtkMRMLScalarVolumeNode1\n",
    ),
    (
        "b.fcsv",
        "# Markups fiducial file version = 5.0\n# CoordinateSystem = LPS\n# columns = id,x,y,z,ow,ox,oy,oz,vis,sel,lock,label,desc,associatedNodeID\n\
                1,1,2,3,0,0,0,1,1,1,0,F-1,,,2,0\n",
    ),
    (
        "a.vtk",
        "# vtk DataFile Version 3.0\nvtk output\nASCII\nDATASET POLYDATA\nPOINTS 4 float\n1 2 3 4 5 6 7 8 9\n10 11 12\n\
               VERTICES 1 2\n1 0\n",
    ),
    (
        "b.vtk",
        "# vtk DataFile Version 5.1\n3D Slicer output. SPACE=RAS\nASCII\nDATASET POLYDATA\nPOINTS 1 double\n-1 -2 3\n",
    ),
];

/// A file as 3D Slicer 5 writes it, without what is not needed here.
pub const MARKUPS: &str = r#"{
    "@schema": "https://raw.githubusercontent.com/slicer/slicer/master/Modules/Loadable/Markups/Resources/Schema/markups-schema-v1.0.3.json#",
    "markups": [{
        "type": "Fiducial", "coordinateSystem": "SYSTEM", "coordinateUnits": "mm", "locked": false,
        "controlPoints": [
            {"id": "1", "label": "F-1", "position": POSITION, "orientation": [-1.0, 0.0, 0.0], "positionStatus": "defined"},
            {"id": "2", "label": "F-2", "position": [0.0, 0.0, 0.0], "positionStatus": "undefined"}
        ]
    }]
}"#;
